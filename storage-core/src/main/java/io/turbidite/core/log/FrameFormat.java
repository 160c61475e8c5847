package io.turbidite.core.log;

/** Sizes of a frame; the rest follows. */
final class FrameFormat {
    static final int HEADER_BYTES = 32;
    static final int SEGMENT_OVERHEAD_BYTES = 1_024;

    private FrameFormat() {}
}
