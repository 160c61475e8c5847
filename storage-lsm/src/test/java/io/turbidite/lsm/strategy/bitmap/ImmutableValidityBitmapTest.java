package io.turbidite.lsm.strategy.bitmap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * The archived file of this format version is read as it was written, and is still what is written.
 * {@code -Dgolden.print=true} prints what a new archive has to hold.
 */
class ImmutableValidityBitmapTest {
    private static final String GOLDEN = "/golden/dead-entries-v1.hex";
    private static final String NAME = "dead";
    private static final ValidityBitmapOwner OWNER =
            new ValidityBitmapOwner(0x1122_3344_5566_7788L, 43, 42);

    /** Four containers: few, many, a run, and one at the last ordinal. */
    private static final long ENTRY_COUNT = 300_000;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    private static ValidityBitmapBuilder sample() {
        ValidityBitmapBuilder builder = ValidityBitmapBuilder.create(ENTRY_COUNT);
        builder.mark(7);
        builder.mark(0);
        for (long ordinal = 70_000; ordinal < 70_300; ordinal++) {
            builder.mark(ordinal);
        }
        builder.mark(ENTRY_COUNT - 1);
        return builder;
    }

    private ImmutableValidityBitmap open() {
        return ImmutableValidityBitmap.open(disk, NAME, OWNER);
    }

    private void put(byte[] bytes) {
        if (disk.exists(NAME)) {
            disk.delete(NAME);
        }
        disk.put(NAME, bytes);
    }

    @Test
    void what_is_written_is_the_archived_file() throws IOException {
        long bytes = sample().write(disk, NAME, OWNER, ENTRY_COUNT);
        String written = HexFormat.of().formatHex(disk.content(NAME));
        assertThat(bytes).isEqualTo(written.length() / 2);
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(GOLDEN + "\n" + written);
        } else {
            assertThat(written).isEqualTo(golden());
        }
    }

    @Test
    void the_archived_file_is_read_as_it_was_written() throws IOException {
        put(HexFormat.of().parseHex(golden()));
        try (ImmutableValidityBitmap invalidEntries = open()) {
            assertThat(invalidEntries.count()).isEqualTo(303);
            assertThat(invalidEntries.entryCount()).isEqualTo(ENTRY_COUNT);
            assertThat(invalidEntries.bytes()).isEqualTo(disk.content(NAME).length);
            assertThat(invalidEntries.contains(0)).isTrue();
            assertThat(invalidEntries.contains(1)).isFalse();
            assertThat(invalidEntries.next(1)).isEqualTo(7);
            assertThat(invalidEntries.next(8)).isEqualTo(70_000);
            assertThat(invalidEntries.next(70_300)).isEqualTo(ENTRY_COUNT - 1);
            assertThat(invalidEntries.next(ENTRY_COUNT)).isEqualTo(ImmutableValidityBitmap.NONE);
            assertThat(invalidEntries.previous(ENTRY_COUNT - 2)).isEqualTo(70_299);
            assertThat(invalidEntries.previous(6)).isZero();
            assertThat(invalidEntries.previous(-1)).isEqualTo(-1);
        }
    }

    @Test
    void each_byte_of_the_archived_file_counts() throws IOException {
        byte[] sound = HexFormat.of().parseHex(golden());
        for (int at = 0; at < sound.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = sound.clone();
                damaged[at] ^= (byte) (1 << bit);
                put(damaged);
                assertThatThrownBy(this::open)
                        .as("bit %d of byte %d", bit, at)
                        .isInstanceOf(CorruptionException.class)
                        .hasMessageContaining(NAME);
            }
        }
        for (int length = 0; length < sound.length; length++) {
            put(Arrays.copyOf(sound, length));
            assertThatThrownBy(this::open).isInstanceOf(CorruptionException.class);
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    @Test
    void the_file_of_another_component_is_none_of_this_one() throws IOException {
        put(HexFormat.of().parseHex(golden()));
        for (ValidityBitmapOwner other : new ValidityBitmapOwner[] {
            new ValidityBitmapOwner(1, OWNER.fileId(), OWNER.componentFileId()),
            new ValidityBitmapOwner(OWNER.storeId(), 44, OWNER.componentFileId()),
            new ValidityBitmapOwner(OWNER.storeId(), OWNER.fileId(), 41)
        }) {
            assertThatThrownBy(() -> ImmutableValidityBitmap.open(disk, NAME, other))
                    .isInstanceOf(CorruptionException.class);
        }
    }

    @Test
    void another_version_is_refused_by_both_numbers() throws IOException {
        byte[] bytes = HexFormat.of().parseHex(golden());
        new FileHeader("dead-entries", 9, 0, OWNER.storeId(), OWNER.fileId())
                .write(MemorySegment.ofArray(bytes), 0);
        put(bytes);
        assertThatThrownBy(this::open)
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 9")
                .hasMessageContaining("reads version 1");
    }

    @Test
    void a_component_beyond_32_bits_of_ordinals_gets_no_bitmap() {
        assertThatThrownBy(() ->
                        ValidityBitmapBuilder.create(ImmutableValidityBitmap.ENTRY_COUNT_MAX + 1))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("4294967297 entries")
                .hasMessageContaining("4294967296");
        ValidityBitmapBuilder largest =
                ValidityBitmapBuilder.create(ImmutableValidityBitmap.ENTRY_COUNT_MAX);
        largest.mark(ImmutableValidityBitmap.ENTRY_COUNT_MAX - 1);
        largest.mark(1L << 31);
        largest.write(disk, NAME, OWNER, ImmutableValidityBitmap.ENTRY_COUNT_MAX);
        try (ImmutableValidityBitmap invalidEntries = open()) {
            assertThat(invalidEntries.next(0)).isEqualTo(1L << 31);
            assertThat(invalidEntries.next((1L << 31) + 1))
                    .isEqualTo(ImmutableValidityBitmap.ENTRY_COUNT_MAX - 1);
            assertThat(invalidEntries.previous(ImmutableValidityBitmap.ENTRY_COUNT_MAX))
                    .isEqualTo((1L << 32) - 1);
            assertThat(invalidEntries.contains((1L << 32) - 1)).isTrue();
            assertThat(invalidEntries.contains(1)).isFalse();
        }
    }

    @Test
    void a_file_that_cannot_be_written_leaves_none() {
        for (OperationKind kind :
                new OperationKind[] {OperationKind.WRITE, OperationKind.SYNC, OperationKind.CREATE
                }) {
            for (int call = 1; call <= (kind == OperationKind.WRITE ? 3 : 1); call++) {
                disk.fault(FaultScript.with(Fault.ENOSPC).on(kind).call(call));
                assertThatThrownBy(() -> sample().write(disk, NAME, OWNER, ENTRY_COUNT))
                        .isInstanceOf(StorageIoException.class);
                disk.clearFaults();
                assertThat(disk.files()).isEmpty();
                assertThat(disk.openHandles()).isEmpty();
            }
        }
    }

    @Test
    void marks_of_before_stay_and_all_are_found_in_both_directions() {
        SplittableRandom random = new SplittableRandom(Seeds.of("DeadEntriesTest"));
        long entryCount = random.nextLong(1, 200_000);
        TreeSet<Long> marked = new TreeSet<>();
        ValidityBitmapBuilder first = ValidityBitmapBuilder.create(entryCount);
        for (int i = 0; i < 500; i++) {
            long ordinal = random.nextLong(entryCount);
            marked.add(ordinal);
            first.mark(ordinal);
        }
        first.write(disk, "first", OWNER, entryCount);
        try (ImmutableValidityBitmap before = ImmutableValidityBitmap.open(disk, "first", OWNER)) {
            ValidityBitmapBuilder second = ValidityBitmapBuilder.of(entryCount, before);
            for (int i = 0; i < 500; i++) {
                long ordinal = random.nextLong(entryCount);
                marked.add(ordinal);
                second.mark(ordinal);
            }
            assertThat(second.count()).isEqualTo(marked.size());
            second.write(disk, NAME, OWNER, entryCount);
        }
        try (ImmutableValidityBitmap invalidEntries = open()) {
            assertThat(invalidEntries.count()).isEqualTo(marked.size());
            for (int i = 0; i < 2_000; i++) {
                long ordinal = random.nextLong(entryCount);
                Long above = marked.ceiling(ordinal);
                Long below = marked.floor(ordinal);
                assertThat(invalidEntries.contains(ordinal)).isEqualTo(marked.contains(ordinal));
                assertThat(invalidEntries.next(ordinal))
                        .isEqualTo(above == null ? ImmutableValidityBitmap.NONE : above);
                assertThat(invalidEntries.previous(ordinal)).isEqualTo(below == null ? -1 : below);
            }
        }
    }

    private static String golden() throws IOException {
        try (InputStream stream = ImmutableValidityBitmapTest.class.getResourceAsStream(GOLDEN)) {
            byte[] bytes = Objects.requireNonNull(stream, GOLDEN).readAllBytes();
            return new String(bytes, StandardCharsets.US_ASCII).replaceAll("\\s", "");
        }
    }
}
