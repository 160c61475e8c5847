package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

/** A cursor may be sought after a page could not be read, wherever it stood, and wherever to. */
class SeekAfterFailureTest {
    private static final String TEST = "SeekAfterFailureTest";
    private static final int ROUNDS = 2_000;

    @Test
    void a_cursor_that_could_not_read_a_page_finds_every_entry_when_it_is_sought() {
        SplittableRandom random = new SplittableRandom(Seeds.of(TEST));
        Entries entries = Entries.generate(random, 20_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);
        SimDisk disk = new SimDisk(random.nextLong(), Profile.STRICT);
        Components.write(disk, ComponentOptions.primary().withPageBytes(4 << 10), entries);
        int failures = 0;
        // of so few pages that most seeks read one
        try (BufferCache cache = Components.cache(64 << 10);
                DiskComponent component = Components.open(disk, cache);
                TreeCursor cursor = component.cursor()) {
            for (int round = 0; round < ROUNDS; round++) {
                disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.READ));
                if (!check(cursor, entries, random.nextInt(entries.size()))) {
                    failures++;
                    disk.clearFaults();
                    int near = random.nextInt(entries.size());
                    assertThat(check(cursor, entries, near)).isTrue();
                }
                disk.clearFaults();
            }
        }
        assertThat(failures).isGreaterThan(ROUNDS / 20);
    }

    /** Seeks an entry, and compares it; false if a page could not be read. */
    private static boolean check(TreeCursor cursor, Entries entries, int index) {
        Entries.Entry entry = entries.sorted.get(index);
        int first = entries.lowerBound(entry.key(), Long.MAX_VALUE);
        try {
            cursor.seek(Slice.of(entry.key()));
            assertThat(cursor.next()).isTrue();
        } catch (StorageException failure) {
            assertThat(failure).isInstanceOf(StorageIoException.class);
            return false;
        }
        assertThat(cursor.ordinal()).isEqualTo(first);
        assertThat(Arrays.equals(cursor.key().toByteArray(), entry.key())).isTrue();
        return true;
    }
}
