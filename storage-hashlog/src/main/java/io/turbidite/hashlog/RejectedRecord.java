package io.turbidite.hashlog;

import io.turbidite.hashlog.parse.Rejection;
import io.turbidite.hashlog.psf.FunctionFailure;

/** A record that was not taken, and why; ingestion goes on with the next one. <em>Immutable.</em> */
public sealed interface RejectedRecord {
    /** The record's number among those handed to its session, from 1. */
    long serial();

    /** Where it begins in the segment that was handed in. */
    long offset();

    /** Bytes of the record. */
    int byteCount();

    /** What is wrong with it, for people. */
    String reason();

    /** The parser refused it; it stays in no chain and not in the log. */
    record Malformed(long serial, long offset, int byteCount, Rejection why)
            implements RejectedRecord {
        @Override
        public String reason() {
            return why.toString();
        }
    }

    /** A user's function threw, so that nobody knows in which chains it belongs. */
    record FunctionFailed(long serial, long offset, int byteCount, FunctionFailure why)
            implements RejectedRecord {
        @Override
        public String reason() {
            return why.toString();
        }
    }

    /** With its key pointers it needs more than a page holds. */
    record TooLarge(long serial, long offset, int byteCount, int recordBytesMax)
            implements RejectedRecord {
        @Override
        public String reason() {
            return "the record has %d bytes; with its key pointers at most %d fit a page"
                    .formatted(byteCount, recordBytesMax);
        }
    }

    /** Is told each rejection, on the ingesting thread, which holds nothing while it calls. */
    @FunctionalInterface
    interface Listener {
        void rejected(RejectedRecord record);
    }
}
