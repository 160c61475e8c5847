package io.turbidite.core.geo;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The keys of an R-tree. In a component they are sorted, as any keys are: along the Hilbert curve,
 * and so that the ones on a page lie near one another. No garbage is made.
 *
 * <pre>
 * bytes field of a point's key
 *     1 class        of the grid: by the larger of both magnitudes
 *     8 number       of the cell on the Hilbert curve, most significant byte first
 *   0-16 rest         what the cell does not tell of x, then of y: as many bits as the cell says,
 *                    filled up with zeros to a whole byte
 *
 * bytes field of a rectangle's key
 *     2 size class   by the longer side: 0 is below 2^-21, each next one twice as much; the last has
 *                    those whose side is above the largest double
 *     1 class        of the grid, of the centre
 *     8 number       of the centre's cell
 *    32 minX, minY, maxX, maxY, eight bytes each
 * </pre>
 *
 * <p>A point's key is the point: nothing is stored twice, and no bounds have to be declared.
 * Between 64 and 180 degrees of longitude, and 32 and 64 of latitude, it takes 16 bytes, of which
 * neighbours share the first ones. Large rectangles lie apart from small ones, whose boxes they
 * would blow up.
 *
 * <p>-0.0 is 0.0; coordinates that are not finite have no key.
 */
public enum SpatialKind {
    /** Points: two doubles, x and y. */
    POINT(1) {
        @Override
        public int length(Slice key, int at) {
            int head = PREFIX_BYTES_POINT;
            require(key, at, head);
            long near = Hilbert.beginning(numberAt(key, at + 1));
            int bits = Grid.restBits(Hilbert.x(near)) + Grid.restBits(Hilbert.y(near));
            int bytes = head + bytesOf(bits);
            require(key, at, bytes);
            return bytes;
        }

        @Override
        public void decode(Slice key, int at, Box box) {
            require(key, at, PREFIX_BYTES_POINT);
            int gridClass = key.byteAt(at);
            long cell = Hilbert.cell(numberAt(key, at + 1));
            int cellX = Hilbert.x(cell);
            int cellY = Hilbert.y(cell);
            int bitsX = Grid.restBits(cellX);
            int bitsY = Grid.restBits(cellY);
            require(key, at, PREFIX_BYTES_POINT + bytesOf(bitsX + bitsY));
            MemorySegment segment = key.segment();
            long restAt = key.offset() + at + PREFIX_BYTES_POINT;
            long first = word(segment, restAt);
            long second = word(segment, restAt + Long.BYTES);
            // the second word's bits follow the first's; no rest has less than 22 bits
            long behindX = bitsX == Long.SIZE
                    ? second
                    : (first << bitsX) | (second >>> (Long.SIZE - bitsX));
            double x = Grid.value(cellX, first >>> (Long.SIZE - bitsX), gridClass);
            double y = Grid.value(cellY, behindX >>> (Long.SIZE - bitsY), gridClass);
            box.set(x, y, x, y);
        }

        @Override
        public void append(double minX, double minY, double maxX, double maxY, ByteSink sink) {
            double x = checked(minX);
            double y = checked(minY);
            int gridClass = Grid.classOf(x, y);
            int cellX = Grid.cell(x, gridClass);
            int cellY = Grid.cell(y, gridClass);
            sink.putByte(gridClass).putLongBigEndian(Hilbert.number(cellX, cellY));
            int bitsX = Grid.restBits(cellX);
            int bitsY = Grid.restBits(cellY);
            long restX = Grid.rest(x, gridClass);
            long restY = Grid.rest(y, gridClass);
            // both rests as one number of 128 bits, its bytes from the top
            long high = restX << (Long.SIZE - bitsX);
            long low = 0;
            long topY = restY << (Long.SIZE - bitsY);
            if (bitsX == Long.SIZE) {
                low = topY;
            } else {
                high |= topY >>> bitsX;
                low = topY << (Long.SIZE - bitsX);
            }
            int bytes = bytesOf(bitsX + bitsY);
            int end = sink.length() + bytes;
            sink.putLongBigEndian(high);
            if (bytes > Long.BYTES) {
                sink.putLongBigEndian(low);
            }
            sink.truncate(end);
        }
    },

    /** Rectangles: four doubles, the least and the greatest x and y. */
    RECTANGLE(2) {
        @Override
        public int length(Slice key, int at) {
            require(key, at, RECTANGLE_BYTES);
            return RECTANGLE_BYTES;
        }

        @Override
        public void decode(Slice key, int at, Box box) {
            require(key, at, RECTANGLE_BYTES);
            MemorySegment segment = key.segment();
            long from = key.offset() + at + PREFIX_BYTES_RECTANGLE;
            box.set(
                    Double.longBitsToDouble(segment.get(Bytes.I64_BE, from)),
                    Double.longBitsToDouble(segment.get(Bytes.I64_BE, from + 8)),
                    Double.longBitsToDouble(segment.get(Bytes.I64_BE, from + 16)),
                    Double.longBitsToDouble(segment.get(Bytes.I64_BE, from + 24)));
        }

        @Override
        public void append(double minX, double minY, double maxX, double maxY, ByteSink sink) {
            double left = checked(minX);
            double bottom = checked(minY);
            double right = checked(maxX);
            double top = checked(maxY);
            double x = centre(left, right);
            double y = centre(bottom, top);
            int gridClass = Grid.classOf(x, y);
            int sizeClass = SizeClass.of(right - left, top - bottom);
            sink.putByte(sizeClass >>> 8).putByte(sizeClass).putByte(gridClass);
            sink.putLongBigEndian(Hilbert.number(Grid.cell(x, gridClass), Grid.cell(y, gridClass)));
            sink.putLongBigEndian(Double.doubleToRawLongBits(left));
            sink.putLongBigEndian(Double.doubleToRawLongBits(bottom));
            sink.putLongBigEndian(Double.doubleToRawLongBits(right));
            sink.putLongBigEndian(Double.doubleToRawLongBits(top));
        }
    };

    /** Class and number of a point. */
    static final int PREFIX_BYTES_POINT = 1 + Long.BYTES;

    /** Both classes and the number of a rectangle. */
    static final int PREFIX_BYTES_RECTANGLE = 2 + 1 + Long.BYTES;

    private static final int RECTANGLE_BYTES = PREFIX_BYTES_RECTANGLE + 4 * Long.BYTES;

    /** The longest key of either kind. */
    public static final int KEY_BYTES_MAX = RECTANGLE_BYTES;

    private final int code;

    SpatialKind(int code) {
        this.code = code;
    }

    /** The kind's number on disk. */
    public int code() {
        return code;
    }

    /** The kind of a {@link #code}; null if there is none. */
    public static @Nullable SpatialKind ofCode(int code) {
        return code == 1 ? POINT : code == 2 ? RECTANGLE : null;
    }

    /**
     * Appends the key of a rectangle, or of the point at its smaller coordinates.
     *
     * @throws InvalidRequestException if a coordinate is not finite; nothing is appended
     */
    public abstract void append(double minX, double minY, double maxX, double maxY, ByteSink sink);

    /**
     * Bytes of the key that starts at {@code at}.
     *
     * @throws CorruptionException if none does
     */
    public abstract int length(Slice key, int at);

    /**
     * Moves {@code box} to the value whose key starts at {@code at}.
     *
     * @throws CorruptionException if none does
     */
    public abstract void decode(Slice key, int at, Box box);

    /** The middle of two numbers; never overflows. */
    static double centre(double min, double max) {
        return min / 2 + max / 2;
    }

    static long numberAt(Slice key, int at) {
        return key.segment().get(Bytes.I64_BE, key.offset() + at);
    }

    static int bytesOf(int bits) {
        return (bits + Byte.SIZE - 1) / Byte.SIZE;
    }

    /** Makes one of the two zeros, and refuses what is not finite. */
    static double checked(double coordinate) {
        if (!Double.isFinite(coordinate)) {
            throw new InvalidRequestException(
                    "a coordinate of %s is not finite".formatted(coordinate));
        }
        return coordinate + 0.0;
    }

    /**
     * Eight bytes behind one another, most significant first; behind the segment's end are zeros.
     */
    private static long word(MemorySegment segment, long at) {
        if (at + Long.BYTES <= segment.byteSize()) {
            return segment.get(Bytes.I64_BE, at);
        }
        long word = 0;
        for (long i = at; i < segment.byteSize(); i++) {
            word |= (segment.get(Bytes.U8, i) & 0xFFL) << (Byte.SIZE * (int) (at + 7 - i));
        }
        return word;
    }

    static void require(Slice key, int at, int bytes) {
        if (at < 0 || bytes > key.length() - at) {
            throw new CorruptionException(
                    "key", at, "spatial key", bytes + " bytes", (key.length() - at) + " bytes");
        }
    }
}
