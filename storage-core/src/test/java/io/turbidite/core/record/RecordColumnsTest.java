package io.turbidite.core.record;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Columns of random records show what a view shows of each, and fail as it does. */
class RecordColumnsTest {
    private static final long SEED = Seeds.of("RecordColumnsTest");
    private static final String REPLAY = Seeds.replay("RecordColumnsTest", SEED);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final RandomValues values = new RandomValues(random);

    /** Records in one piece of memory that ends with the last of them. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Packed(MemorySegment memory, long[] offsets, int[] lengths, int count) {
        static Packed of(List<byte[]> records) {
            long[] offsets = new long[records.size()];
            int[] lengths = new int[records.size()];
            long all = 0;
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = all;
                lengths[i] = records.get(i).length;
                all += lengths[i];
            }
            MemorySegment memory = Arena.ofAuto().allocate(all);
            for (int i = 0; i < offsets.length; i++) {
                MemorySegment.copy(
                        records.get(i), 0, memory, ValueLayout.JAVA_BYTE, offsets[i], lengths[i]);
            }
            return new Packed(memory, offsets, lengths, offsets.length);
        }

        RecordView view(RecordType type, int row) {
            return new RecordView(type).wrap(new Slice().set(memory, offsets[row], lengths[row]));
        }
    }

    @Test
    void columnsShowWhatViewsShow() {
        int wide = 0;
        for (int i = 0; i < Tier.count(150, 1_500, 50_000); i++) {
            RecordType type = type(i);
            wide += type.fields().size() > RecordView.STATES_IN_WORD ? 1 : 0;
            check(type, Packed.of(records(type)));
        }
        assertThat(wide).as("types whose states fit no word").isPositive();
    }

    @Test
    void damageIsToldAsByViews() {
        int damagedHeaders = 0;
        for (int i = 0; i < Tier.count(500, 4_000, 200_000); i++) {
            RecordType type = type(i);
            List<byte[]> records = records(type);
            for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
                byte[] damaged = records.get(random.nextInt(records.size()));
                int most = random.nextBoolean() ? RecordFormat.HEADER_BYTES : damaged.length;
                damaged[random.nextInt(most)] = (byte) random.nextInt(-3, 20);
            }
            if (random.nextInt(8) == 0) {
                records.add(new byte[random.nextInt(1, 2 * RecordFormat.HEADER_BYTES)]);
            }
            damagedHeaders += check(type, Packed.of(records)) ? 0 : 1;
        }
        assertThat(damagedHeaders).isPositive();
    }

    private RecordType type(int i) {
        return switch (i % 3) {
            case 0 -> values.type(12);
            case 1 -> values.nestedType(8);
            default -> values.type(44);
        };
    }

    /** Some with fewer fields than the type has by now. */
    private List<byte[]> records(RecordType type) {
        List<Field> declared = type.declared();
        RecordType before = RecordType.of(declared.subList(0, random.nextInt(declared.size() + 1)));
        boolean areShort = random.nextBoolean();
        List<byte[]> records = new ArrayList<>();
        for (int i = random.nextInt(1, 40); i > 0; i--) {
            RecordType of = areShort && random.nextInt(3) == 0 ? before : type;
            Map<String, @Nullable Object> record = values.record(of);
            records.add(new RecordWriter(of).write(record).toByteArray());
        }
        return records;
    }

    /** Whether the headers are sound. */
    private boolean check(RecordType type, Packed records) {
        RecordColumns columns = new RecordColumns(type);
        String expected = failure(() -> {
            for (int row = 0; row < records.count(); row++) {
                records.view(type, row);
            }
            return "";
        });
        assertThat(failure(() -> {
                    columns.wrap(
                            records.memory(),
                            records.offsets(),
                            records.lengths(),
                            records.count());
                    return "";
                }))
                .as(REPLAY)
                .isEqualTo(expected);
        if (!expected.isEmpty()) {
            assertThat(columns.count()).isZero();
            return false;
        }
        assertThat(columns.count()).isEqualTo(records.count());
        RecordColumn column = new RecordColumn();
        for (int round = 0; round < 3; round++) {
            int[] rows = rows(records.count());
            for (int field = 0; field < type.fields().size(); field++) {
                assertThat(columns.has(field)).isTrue();
                int of = field;
                assertThat(failure(() -> byColumn(type, columns, of, rows, column)))
                        .as("%s: field %d of %s", REPLAY, field, type)
                        .isEqualTo(failure(() -> byViews(type, records, of, rows)));
            }
        }
        return true;
    }

    /** Some of all rows, in their order. */
    private int[] rows(int count) {
        int[] rows = new int[count];
        int some = 0;
        int part = random.nextInt(1, 4);
        for (int row = 0; row < count; row++) {
            if (random.nextInt(part) == 0) {
                rows[some++] = row;
            }
        }
        return Arrays.copyOf(rows, some);
    }

    private static String byViews(RecordType type, Packed records, int field, int[] rows) {
        TypeKind kind = type.field(field).kind();
        StringBuilder all = new StringBuilder();
        for (int row : rows) {
            RecordView view = records.view(type, row);
            if (view.isAbsent(field)) {
                all.append("absent ");
            } else if (KindValues.isLong(kind)) {
                all.append(view.getLong(field)).append(' ');
            } else if (kind == TypeKind.DOUBLE || kind == TypeKind.FLOAT) {
                all.append(Double.doubleToRawLongBits(view.getDouble(field))).append(' ');
            } else if (areBytes(kind)) {
                Slice bytes = view.getBytes(field);
                all.append(bytes.offset()).append('+').append(bytes.length()).append(' ');
            } else {
                all.append("present ");
            }
        }
        return all.toString();
    }

    private static boolean areBytes(TypeKind kind) {
        return kind == TypeKind.STRING || kind == TypeKind.BINARY || kind == TypeKind.UUID;
    }

    private static String byColumn(
            RecordType type, RecordColumns columns, int field, int[] rows, RecordColumn column) {
        TypeKind kind = type.field(field).kind();
        boolean areNumbers = true;
        if (KindValues.isLong(kind)) {
            columns.longs(field, rows, rows.length, column);
        } else if (kind == TypeKind.DOUBLE || kind == TypeKind.FLOAT) {
            columns.doubles(field, rows, rows.length, column);
        } else if (areBytes(kind)) {
            columns.bytes(field, rows, rows.length, column);
        } else {
            columns.presence(field, rows, rows.length, column);
            areNumbers = false;
        }
        StringBuilder all = new StringBuilder();
        boolean some = false;
        for (int i = 0; i < rows.length; i++) {
            some |= column.absent()[i];
            if (column.absent()[i]) {
                all.append("absent ");
                assertThat(areNumbers ? column.numbers()[i] : 0).as(REPLAY).isZero();
            } else if (areBytes(kind)) {
                all.append(column.numbers()[i])
                        .append('+')
                        .append(column.lengths()[i])
                        .append(' ');
            } else if (areNumbers) {
                all.append(column.numbers()[i]).append(' ');
            } else {
                all.append("present ");
            }
        }
        assertThat(column.hasAbsent()).as(REPLAY).isEqualTo(some);
        return all.toString();
    }

    /** The message of a corruption; what is read where there is none. */
    private static String failure(Supplier<String> reading) {
        try {
            return reading.get();
        } catch (CorruptionException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** As where memory is given away by another thread. */
    @Test
    void bytesThatChangeMeanwhileAreDamaged() throws InterruptedException {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string?")
                .build();
        byte[] record = new RecordWriter(type)
                .write(Map.of("id", 1L, "name", "x".repeat(77)))
                .toByteArray();
        Packed records = Packed.of(List.of(record));
        long end = 0;
        while (records.memory().get(ValueLayout.JAVA_INT_UNALIGNED, end) != 77) {
            end++;
        }
        RecordColumns columns = new RecordColumns(type);
        columns.wrap(records.memory(), records.offsets(), records.lengths(), records.count());
        RecordColumn column = new RecordColumn();
        long endPlace = end;
        AtomicBoolean isDone = new AtomicBoolean();
        Thread other = new Thread(() -> {
            for (int i = 0; !isDone.get(); i++) {
                int shown = i % 2 == 0 ? 1 << 30 : 77;
                records.memory().set(ValueLayout.JAVA_INT_UNALIGNED, endPlace, shown);
            }
        });
        other.start();
        int damaged = 0;
        try {
            for (int i = 0; i < 20_000_000 && damaged < 100_000; i++) {
                try {
                    columns.bytes(1, new int[1], 1, column);
                } catch (CorruptionException e) {
                    damaged++;
                }
            }
        } finally {
            isDone.set(true);
            other.join();
        }
        assertThat(damaged).isPositive();
    }

    @Test
    void readingMakesNoObject() {
        RecordType type = RecordType.builder()
                .field("id", "int64")
                .field("name", "string?")
                .field("delay", "double?")
                .build();
        List<byte[]> all = new ArrayList<>();
        for (long i = 0; i < 1_000; i++) {
            all.add(new RecordWriter(type)
                    .write(Map.of("id", i, "name", "n" + i, "delay", 0.5 * i))
                    .toByteArray());
        }
        Packed records = Packed.of(all);
        RecordColumns columns = new RecordColumns(type);
        int[] rows = new int[records.count()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i;
        }
        RecordColumn column = new RecordColumn();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        // what is compiled meanwhile may leave something in one of the rounds
        for (int round = 0; round < 200; round++) {
            long before = threads.getThreadAllocatedBytes(Thread.currentThread().threadId());
            columns.wrap(records.memory(), records.offsets(), records.lengths(), rows.length);
            columns.longs(0, rows, rows.length, column);
            columns.bytes(1, rows, rows.length, column);
            columns.doubles(2, rows, rows.length, column);
            long bytes =
                    threads.getThreadAllocatedBytes(Thread.currentThread().threadId()) - before;
            least = Math.min(least, bytes);
        }
        assertThat(least).as("bytes for 1,000 records").isLessThan(1_000);
    }
}
