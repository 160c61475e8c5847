package io.turbidite.core.record;

import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * Values, types and records from a seeded generator, with the awkward ones far more often than
 * chance would have them; and the order that the values of each kind should have, told by Java
 * alone.
 */
public final class RandomValues {
    private static final List<TypeKind> KINDS =
            Arrays.stream(TypeKind.values()).filter(TypeKind::isScalar).toList();
    private static final int[] CODE_POINTS = {
        0, 1, 2, 3, '"', '\\', '\n', ' ', 'a', 'z', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000,
        0xFFFD, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF
    };
    private static final double[] DOUBLES = {
        Double.NaN,
        Double.NEGATIVE_INFINITY,
        Double.POSITIVE_INFINITY,
        -0.0,
        0.0,
        Double.MIN_VALUE,
        -Double.MIN_VALUE,
        Double.MAX_VALUE,
        -Double.MAX_VALUE,
        1,
        -1
    };

    private final SplittableRandom random;

    public RandomValues(SplittableRandom random) {
        this.random = random;
    }

    /** A value of the class that the kind names; never null. */
    public Object value(TypeKind kind) {
        return switch (kind) {
            case BOOL -> random.nextBoolean();
            case INT8 -> (byte) number();
            case INT16 -> (short) number();
            case INT32 -> (int) number();
            case INT64 -> number();
            case FLOAT ->
                random.nextInt(3) == 0
                        ? (float) DOUBLES[random.nextInt(DOUBLES.length)]
                        : canonical(Float.intBitsToFloat((int) number()));
            case DOUBLE -> real();
            case DECIMAL -> decimal();
            case STRING -> string();
            case BINARY -> bytes();
            case UUID -> new UUID(number(), number());
            case DATE -> LocalDate.ofEpochDay(number() >> 32);
            case TIME -> LocalTime.ofNanoOfDay(Math.floorMod(number(), 86_400_000_000L) * 1_000);
            case DATETIME -> Instant.EPOCH.plus(number(), ChronoUnit.MICROS);
            case DURATION -> Duration.of(number(), ChronoUnit.MICROS);
            case POINT -> new Point(finite(), finite());
            case LONLAT -> new Point(random.nextDouble(-180, 180), random.nextDouble(-90, 90));
            case RECTANGLE -> {
                double x1 = finite();
                double x2 = finite();
                double y1 = finite();
                double y2 = finite();
                yield new Rectangle(
                        Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2));
            }
            case ARRAY, RECORD -> throw new IllegalArgumentException(kind.label());
        };
    }

    /** Of any magnitude, often next to a power of two. */
    public long number() {
        long power = 1L << random.nextInt(64);
        return switch (random.nextInt(4)) {
            case 0 -> power + random.nextInt(3) - 1;
            case 1 -> -power + random.nextInt(3) - 1;
            case 2 -> random.nextLong() >> random.nextInt(64);
            default -> random.nextInt(5) - 2;
        };
    }

    private static float canonical(float value) {
        return Float.isNaN(value) ? Float.NaN : value;
    }

    private double real() {
        if (random.nextInt(3) == 0) {
            return DOUBLES[random.nextInt(DOUBLES.length)];
        }
        double value = random.nextBoolean()
                ? Double.longBitsToDouble(random.nextLong())
                : random.nextInt(-4, 5) / 2.0;
        return Double.isNaN(value) ? Double.NaN : value;
    }

    private double finite() {
        double value = real();
        return Double.isFinite(value) ? value : random.nextInt(-180, 181);
    }

    private BigDecimal decimal() {
        BigInteger unscaled = switch (random.nextInt(4)) {
            case 0 -> BigInteger.valueOf(random.nextInt(-12, 13));
            case 1 -> BigInteger.valueOf(number());
            case 2 -> BigInteger.TEN.pow(random.nextInt(40));
            default -> new BigInteger(bytesOf(random.nextInt(1, 60)));
        };
        return new BigDecimal(unscaled, random.nextInt(-5, 30));
    }

    /**
     * Short, of characters that UTF-8 and UTF-16 order differently, or that keys and JSON escape.
     */
    public String string() {
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(random.nextInt(8) == 0 ? 40 : 6);
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(
                    random.nextBoolean()
                            ? CODE_POINTS[random.nextInt(CODE_POINTS.length)]
                            : 'a' + random.nextInt(3));
        }
        return text.toString();
    }

    private byte[] bytes() {
        byte[] bytes = bytesOf(random.nextInt(random.nextInt(8) == 0 ? 40 : 5));
        for (int i = 0; i < bytes.length; i++) {
            if (random.nextBoolean()) {
                bytes[i] = (byte) (random.nextInt(6) - 1);
            }
        }
        return bytes;
    }

    private byte[] bytesOf(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private TypeKind kind() {
        return KINDS.get(random.nextInt(KINDS.size()));
    }

    /** A type of up to {@code fieldCountMax} fields of any kinds; the names are f0, f1, … */
    public RecordType type(int fieldCountMax) {
        List<Field> fields = new ArrayList<>();
        int fieldCount = random.nextInt(fieldCountMax + 1);
        for (int i = 0; i < fieldCount; i++) {
            TypeKind kind = kind();
            fields.add(new Field("f" + i, kind, random.nextInt(3) > 0));
        }
        return RecordType.of(fields);
    }

    /** The fields of a record of {@code type}: some null, some missing, some open. */
    public Map<String, @Nullable Object> record(RecordType type) {
        return fields(type.declared());
    }

    /** A type like that of {@link #type}, with arrays and nested records among its fields. */
    public RecordType nestedType(int fieldCountMax) {
        return RecordType.of(fieldsOf(fieldCountMax, 3));
    }

    private List<Field> fieldsOf(int fieldCountMax, int depth) {
        List<Field> fields = new ArrayList<>();
        for (int i = random.nextInt(fieldCountMax + 1); i > 0; i--) {
            boolean optional = random.nextInt(3) > 0;
            String name = "f" + i;
            fields.add(
                    switch (random.nextInt(depth == 0 ? 3 : 4)) {
                        case 0 -> Field.array(name, kind(), optional);
                        case 3 -> Field.nested(name, fieldsOf(4, depth - 1), optional);
                        default -> new Field(name, kind(), optional);
                    });
        }
        return fields;
    }

    private Object value(Field field) {
        return switch (field.kind()) {
            case ARRAY -> {
                List<Object> elements = new ArrayList<>();
                for (int i = random.nextInt(random.nextInt(8) == 0 ? 40 : 4); i > 0; i--) {
                    elements.add(value(field.elementKind()));
                }
                yield elements;
            }
            case RECORD -> fields(field.members());
            default -> value(field.kind());
        };
    }

    private Map<String, @Nullable Object> fields(List<Field> declared) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        for (Field field : declared) {
            int state = field.optional() ? random.nextInt(4) : 3;
            if (state > 0) {
                fields.put(field.name(), state == 1 ? null : value(field));
            }
        }
        int openCount = random.nextInt(3) == 0 ? random.nextInt(5) : 0;
        for (int i = 0; i < openCount; i++) {
            fields.put("open " + string(), open(3));
        }
        return fields;
    }

    /** An open value, as it comes back: integers as {@link Long}. */
    public @Nullable Object open(int depth) {
        int choice = random.nextInt(depth > 0 ? 8 : 6);
        if (choice == 0) {
            return null;
        }
        if (choice < 6) {
            Object value = value(kind());
            return value instanceof Byte || value instanceof Short || value instanceof Integer
                    ? (Object) ((Number) value).longValue()
                    : value;
        }
        List<@Nullable Object> list = new ArrayList<>();
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            list.add(open(depth - 1));
            map.put(string(), open(depth - 1));
        }
        return choice == 6 ? list : map;
    }

    /** What is shown of a value: 0.0 where it is -0.0, of which they are one value. */
    public static @Nullable Object shown(@Nullable Object value) {
        return switch (value) {
            case Double number -> number + 0.0;
            case Float number -> number + 0.0f;
            case null, default -> value;
        };
    }

    /** The order that values of a kind have; null is before all of them. */
    public static Comparator<@Nullable Object> order(TypeKind kind) {
        return (a, b) -> {
            if (a == null || b == null) {
                return Boolean.compare(a != null, b != null);
            }
            return compare(kind, a, b);
        };
    }

    private static int compare(TypeKind kind, Object a, Object b) {
        return switch (kind) {
            case BOOL -> ((Boolean) a).compareTo((Boolean) b);
            case INT8 -> ((Byte) a).compareTo((Byte) b);
            case INT16 -> ((Short) a).compareTo((Short) b);
            case INT32 -> ((Integer) a).compareTo((Integer) b);
            case INT64 -> ((Long) a).compareTo((Long) b);
            // one zero, whatever its sign
            case FLOAT -> Float.compare((Float) a + 0.0f, (Float) b + 0.0f);
            case DOUBLE -> Double.compare((Double) a + 0.0, (Double) b + 0.0);
            case DECIMAL -> ((BigDecimal) a).compareTo((BigDecimal) b);
            case STRING ->
                Arrays.compare(
                        ((String) a).codePoints().toArray(),
                        ((String) b).codePoints().toArray());
            case BINARY -> Arrays.compareUnsigned((byte[]) a, (byte[]) b);
            case UUID -> {
                UUID x = (UUID) a;
                UUID y = (UUID) b;
                int high = Long.compareUnsigned(
                        x.getMostSignificantBits(), y.getMostSignificantBits());
                yield high != 0
                        ? high
                        : Long.compareUnsigned(
                                x.getLeastSignificantBits(), y.getLeastSignificantBits());
            }
            case DATE -> ((LocalDate) a).compareTo((LocalDate) b);
            case TIME -> ((LocalTime) a).compareTo((LocalTime) b);
            case DATETIME -> ((Instant) a).compareTo((Instant) b);
            case DURATION -> ((Duration) a).compareTo((Duration) b);
            case POINT, LONLAT ->
                Comparator.comparingDouble(Point::x)
                        .thenComparingDouble(Point::y)
                        .compare((Point) a, (Point) b);
            case RECTANGLE ->
                Comparator.comparingDouble(Rectangle::minX)
                        .thenComparingDouble(Rectangle::minY)
                        .thenComparingDouble(Rectangle::maxX)
                        .thenComparingDouble(Rectangle::maxY)
                        .compare((Rectangle) a, (Rectangle) b);
            case ARRAY, RECORD -> throw new IllegalArgumentException(kind.label());
        };
    }
}
