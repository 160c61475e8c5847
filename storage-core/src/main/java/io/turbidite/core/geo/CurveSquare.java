package io.turbidite.core.geo;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

/**
 * The keys of a square on the Hilbert curve, from one of its cells on, and where their values lie.
 * Squares of a class follow one another on the curve, and each has four halves as wide.
 * <em>Confined to one thread;</em> moves.
 */
public final class CurveSquare {
    /** The square that is all of a class. */
    public static final int LEVEL_MAX = Hilbert.LEVELS;

    private final SpatialKind kind;
    private int classes;
    private int level;
    private long number;

    /** A square of that kind of key; set it before it is asked. */
    public CurveSquare(SpatialKind kind) {
        this.kind = kind;
    }

    /**
     * Moves it.
     *
     * @param newClasses the classes that a key begins with, as a number
     * @param newLevel the square is two to the power of this cells wide
     * @param newNumber the first cell; keys of the square below it are left out
     */
    public CurveSquare set(int newClasses, int newLevel, long newNumber) {
        classes = newClasses;
        level = newLevel;
        number = newNumber;
        return this;
    }

    /** Moves it to the cell that a key is in. */
    public CurveSquare setCell(Slice key) {
        SpatialKind.require(key, 0, prefixBytes());
        int read = 0;
        for (int i = 0; i < classBytes(); i++) {
            read = read << 8 | key.byteAt(i);
        }
        return set(read, 0, SpatialKind.numberAt(key, classBytes()));
    }

    private int classBytes() {
        return prefixBytes() - Long.BYTES;
    }

    private int prefixBytes() {
        return kind == SpatialKind.POINT
                ? SpatialKind.PREFIX_BYTES_POINT
                : SpatialKind.PREFIX_BYTES_RECTANGLE;
    }

    /** The classes that its keys begin with, as a number. */
    public int classes() {
        return classes;
    }

    /** Two to the power of this is how many cells wide it is. */
    public int level() {
        return level;
    }

    /** The first cell. */
    public long number() {
        return number;
    }

    /** The last cell. */
    public long last() {
        return number | mask();
    }

    private long mask() {
        return level == LEVEL_MAX ? -1L : (1L << (2 * level)) - 1;
    }

    /** Puts the bytes that the square's keys are at or above. */
    public void putFirst(ByteSink sink) {
        for (int i = classBytes() - 1; i >= 0; i--) {
            sink.putByte(classes >>> (Byte.SIZE * i));
        }
        sink.putLongBigEndian(number);
    }

    /** Puts bytes that are above all keys of these classes, and below those of the next. */
    public void putNextClasses(ByteSink sink) {
        for (int i = classBytes() - 1; i >= 0; i--) {
            sink.putByte((classes + 1) >>> (Byte.SIZE * i));
        }
    }

    /** Moves {@code box} around all values that the square can have keys of. */
    public Box box(Box box) {
        int gridClass = classes & 0xFF;
        long cell = Hilbert.cell(number);
        double minX = Grid.border(corner(Hilbert.x(cell)), gridClass);
        double minY = Grid.border(corner(Hilbert.y(cell)), gridClass);
        double maxX = Grid.border(corner(Hilbert.x(cell)) + (1L << level), gridClass);
        double maxY = Grid.border(corner(Hilbert.y(cell)) + (1L << level), gridClass);
        if (kind == SpatialKind.POINT) {
            return box.set(minX, minY, maxX, maxY);
        }
        double half = SizeClass.halfSide(classes >>> 8);
        return box.set(
                below(minX - half), below(minY - half), above(maxX + half), above(maxY + half));
    }

    /** The first cell of the square in one coordinate. */
    private long corner(int cell) {
        long fromStart = (long) cell - Integer.MIN_VALUE;
        return (fromStart >>> level << level) + Integer.MIN_VALUE;
    }

    /** A centre and half a side are rounded, each by less than a step. */
    private static double below(double value) {
        return Math.nextDown(Math.nextDown(value));
    }

    private static double above(double value) {
        return Math.nextUp(Math.nextUp(value));
    }
}
