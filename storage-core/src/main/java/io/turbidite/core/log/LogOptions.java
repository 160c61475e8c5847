package io.turbidite.core.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;

/**
 * How a log behaves. <em>Immutable.</em>
 *
 * @param durability when a commit counts as safe ({@link Durability}): when it is on the device
 *     ({@code sync}), when the operating system has it ({@code interval}, which syncs from time to
 *     time, and {@code process}), or at once ({@code buffered}). Change it when the last moments
 *     before a power cut may be lost, and writes wait for the device
 * @param intervalMicros microseconds between syncs under {@link Durability#INTERVAL}, 1 to
 *     3,600,000,000: so much a power cut may take. Lower it when that is too much; raise it when
 *     the device is busy with syncs
 * @param segmentBytes size of a segment file, a power of two that holds all that may wait, at most
 *     1 GiB; under {@link Durability#SYNC} preallocated whole, so it is also what a fresh store
 *     costs then. Lower it, together with the three below, for many small stores
 * @param ringSlots records that may wait for the writer, a power of two, 2 to 1,048,576. Raise it
 *     when hundreds of threads write at a time; lower it for small stores
 * @param slotBytes largest payload that fits a slot's own buffer, a multiple of 8, 64 to 65,536.
 *     Raise it when most records are longer, as a longer one is copied once more
 * @param overflowBytesMax memory for all waiting payloads above {@code slotBytes}, 1 KiB to 256
 *     MiB; bounds a payload too: a batch may not be longer. Raise it for larger batches; lower it
 *     for small stores with short records
 */
public record LogOptions(
        Durability durability,
        long intervalMicros,
        long segmentBytes,
        int ringSlots,
        int slotBytes,
        int overflowBytesMax) {

    private static final int LATECOMERS_MAX = 64;

    /**
     * A write of this size costs the same per byte as a larger one, and bounds a step of the
     * writer.
     */
    private static final long BATCH_BYTES_TARGET = 1 << 20;

    public LogOptions {
        check("intervalMicros", intervalMicros, 1, 3_600_000_000L);
        check("ringSlots", ringSlots, 2, 1 << 20);
        check("slotBytes", slotBytes, 64, 64 << 10);
        check("overflowBytesMax", overflowBytesMax, 1 << 10, 256 << 20);
        if (Integer.bitCount(ringSlots) != 1 || slotBytes % 8 != 0) {
            throw new InvalidRequestException(
                    "ringSlots %d must be a power of two and slotBytes %d a multiple of 8"
                            .formatted(ringSlots, slotBytes));
        }
        if (Long.bitCount(segmentBytes) != 1) {
            throw new InvalidRequestException(
                    "log option segmentBytes %d must be a power of two".formatted(segmentBytes));
        }
        // Everything that may be in flight must fit one segment, or a claim could never be
        // admitted.
        long floor = Segment.OVERHEAD_BYTES
                + inFlightBytesMax(ringSlots, slotBytes, overflowBytesMax)
                + batchBytesMax(ringSlots, slotBytes);
        check("segmentBytes", segmentBytes, floor, 1L << 30);
    }

    /**
     * Sync on commit; 1,024 slots of 2 KiB (2 MiB of ring holds a few milliseconds of 500-byte
     * records at full speed); 18 MiB for large payloads, so that the largest record fits with its
     * head; 32 MiB segments, the smallest that hold all of that: the smaller a segment, the fewer
     * bytes wait to be used or truncated.
     */
    public static LogOptions defaults() {
        return new LogOptions(Durability.SYNC, 100_000, 32L << 20, 1_024, 2 << 10, 18 << 20);
    }

    /** Begins with the {@link #defaults defaults}. */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** Begins with these options. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** The same with another {@link #durability}. */
    public LogOptions withDurability(Durability newDurability) {
        return toBuilder().durability(newDurability).build();
    }

    /** The same with another {@link #intervalMicros}. */
    public LogOptions withIntervalMicros(long newIntervalMicros) {
        return toBuilder().intervalMicros(newIntervalMicros).build();
    }

    /** A small log for tests and small stores: {@code newSegmentBytes} and a ring to match. */
    public LogOptions withSegmentBytes(
            long newSegmentBytes, int newRingSlots, int newSlotBytes, int newOverflowBytesMax) {
        return toBuilder()
                .segmentBytes(newSegmentBytes)
                .ringSlots(newRingSlots)
                .slotBytes(newSlotBytes)
                .overflowBytesMax(newOverflowBytesMax)
                .build();
    }

    /**
     * Whether records are stored to a mapping of the segment: where each of them must be with the
     * operating system and none need be on disk.
     */
    boolean isMapped(Disk disk) {
        return (durability == Durability.INTERVAL || durability == Durability.PROCESS)
                && disk.mapsFiles();
    }

    /**
     * Whether a segment is written with zeros before it is used: a commit's sync then finds its
     * space, and a store to a mapping can't be refused for want of it.
     */
    boolean writesAhead(Disk disk) {
        return durability == Durability.SYNC || isMapped(disk);
    }

    /** Largest payload of one record. */
    public int payloadBytesMax() {
        return overflowBytesMax;
    }

    /** How much the writer puts into one write, if it is there. */
    int batchBytesTarget() {
        return batchBytesTarget(ringSlots, slotBytes);
    }

    /**
     * Most bytes that the writer frames before it writes them: with the frame that reaches the
     * target, and marks.
     */
    long batchBytesMax() {
        return batchBytesMax(ringSlots, slotBytes);
    }

    /**
     * Bytes of a segment that holds everything that may be under way when the disk is found full:
     * claims, and what has been framed and not written.
     */
    long reserveBytes() {
        return Segment.OVERHEAD_BYTES + inFlightBytesMax() + batchBytesMax();
    }

    private static int batchBytesTarget(int ringSlots, int slotBytes) {
        return (int)
                Math.min(BATCH_BYTES_TARGET, ringSlots * FrameFormat.loneGroupBytes(slotBytes));
    }

    private static long batchBytesMax(int ringSlots, int slotBytes) {
        return batchBytesTarget(ringSlots, slotBytes)
                + FrameFormat.loneGroupBytes(slotBytes)
                + 5 * Segment.MARK_BYTES;
    }

    /** Most file bytes that claimed and not yet written records can need. */
    long inFlightBytesMax() {
        return inFlightBytesMax(ringSlots, slotBytes, overflowBytesMax);
    }

    private static long inFlightBytesMax(int ringSlots, int slotBytes, int overflowBytesMax) {
        // Each slot: a group of its own. Latecomers: threads that took a slot while admission was
        // ending cancel it, which costs a group of nothing; more than can ever be racing.
        long slots = ringSlots * (FrameFormat.loneGroupBytes(slotBytes) + FrameFormat.ALIGNMENT);
        long latecomers = (LATECOMERS_MAX + (long) ringSlots) * FrameFormat.loneGroupBytes(0);
        return slots + latecomers + overflowBytesMax;
    }

    private static void check(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new InvalidRequestException(
                    "log option %s must be %d to %d but is %d".formatted(what, min, max, value));
        }
    }

    /**
     * Options under change; they are checked together when they are built. <em>Confined to one
     * thread.</em>
     */
    public static final class Builder {
        private Durability durability;
        private long intervalMicros;
        private long segmentBytes;
        private int ringSlots;
        private int slotBytes;
        private int overflowBytesMax;

        private Builder(LogOptions from) {
            this.durability = from.durability;
            this.intervalMicros = from.intervalMicros;
            this.segmentBytes = from.segmentBytes;
            this.ringSlots = from.ringSlots;
            this.slotBytes = from.slotBytes;
            this.overflowBytesMax = from.overflowBytesMax;
        }

        /** Sets the option {@link LogOptions#durability}. */
        public Builder durability(Durability value) {
            durability = value;
            return this;
        }

        /** Sets the option {@link LogOptions#intervalMicros}. */
        public Builder intervalMicros(long value) {
            intervalMicros = value;
            return this;
        }

        /** Sets the option {@link LogOptions#segmentBytes}. */
        public Builder segmentBytes(long value) {
            segmentBytes = value;
            return this;
        }

        /** Sets the option {@link LogOptions#ringSlots}. */
        public Builder ringSlots(int value) {
            ringSlots = value;
            return this;
        }

        /** Sets the option {@link LogOptions#slotBytes}. */
        public Builder slotBytes(int value) {
            slotBytes = value;
            return this;
        }

        /** Sets the option {@link LogOptions#overflowBytesMax}. */
        public Builder overflowBytesMax(int value) {
            overflowBytesMax = value;
            return this;
        }

        /**
         * Checks the options together.
         *
         * @throws InvalidRequestException if one is out of its range, naming it
         */
        public LogOptions build() {
            return new LogOptions(
                    durability,
                    intervalMicros,
                    segmentBytes,
                    ringSlots,
                    slotBytes,
                    overflowBytesMax);
        }
    }
}
