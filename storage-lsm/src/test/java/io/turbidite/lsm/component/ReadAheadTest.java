package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;
import io.turbidite.lsm.entry.Found;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

/** How often the disk is read: seldom by a scan, once by whoever jumps. */
class ReadAheadTest {
    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final Entries entries = Entries.generate(
            new SplittableRandom(5), 40_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);
    private final FaultScript reads =
            FaultScript.with(Fault.EIO).on(OperationKind.READ).call(Long.MAX_VALUE);

    @BeforeEach
    void write() {
        Components.write(disk, ComponentOptions.primary().withPageBytes(8 << 10), entries);
        disk.fault(reads);
    }

    @Test
    void a_cold_scan_of_many_pages_reads_seldom_in_both_directions() {
        for (boolean forward : new boolean[] {true, false}) {
            try (BufferCache cache = Components.cache(32 << 20);
                    DiskComponent component = Components.open(disk, cache)) {
                int pages = component.recordFences().pageCount();
                assertThat(pages).isGreaterThan(200);
                long before = reads.matchCount();
                assertThat(scan(component.cursor(), forward)).isEqualTo(entries.size());
                long scanReads = reads.matchCount() - before;
                assertThat(scanReads)
                        .as("reads of %d pages", pages)
                        .isLessThanOrEqualTo(pages / 16);
                // and what it read is cached
                assertThat(scan(component.cursor(), forward)).isEqualTo(entries.size());
                assertThat(reads.matchCount() - before).isEqualTo(scanReads);
            }
        }
    }

    @Test
    void a_search_for_one_key_reads_one_page_and_so_does_a_jump() {
        try (BufferCache cache = Components.cache(32 << 20);
                DiskComponent component = Components.open(disk, cache);
                TreeCursor cursor = component.cursor()) {
            Entries.Entry entry = entries.sorted.get(entries.size() / 2);
            long before = reads.matchCount();
            component.find(entry.keySlice(), Long.MAX_VALUE, new Found(1 << 20), true);
            assertThat(reads.matchCount() - before).isEqualTo(1);
            int step = entries.size() / 20;
            for (int i = 0; i < 20; i++) {
                before = reads.matchCount();
                cursor.seek(entries.sorted.get((i * 7 % 20) * step).keySlice());
                assertThat(reads.matchCount() - before).isLessThanOrEqualTo(1);
            }
        }
    }

    @Test
    void a_scan_larger_than_the_cache_leaves_what_is_used_all_the_time() {
        try (BufferCache cache = Components.cache(1 << 20);
                DiskComponent component = Components.open(disk, cache);
                TreeCursor cursor = component.cursor()) {
            Entries.Entry hot = entries.sorted.get(entries.size() / 2);
            component.find(hot.keySlice(), Long.MAX_VALUE, new Found(1 << 20), true);
            long hotReads = 0;
            for (int i = 0; cursor.next(); i++) {
                if (i % 500 == 0) {
                    long before = reads.matchCount();
                    component.find(hot.keySlice(), Long.MAX_VALUE, new Found(1 << 20), true);
                    hotReads += reads.matchCount() - before;
                }
            }
            assertThat(hotReads).isZero();
        }
    }

    @Test
    void a_read_ahead_that_fails_is_no_error_of_the_page_in_hand() {
        try (BufferCache cache = Components.cache(32 << 20);
                DiskComponent component = Components.open(disk, cache);
                TreeCursor cursor = component.cursor()) {
            assertThat(cursor.next()).isTrue();
            // the second page's miss is the first that reads ahead
            disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.READ));
            assertThat(scan(cursor, true)).isEqualTo(entries.size() - 1);
        }
    }

    @Test
    void memory_to_read_ahead_is_given_back_and_bounded() {
        try (BufferCache cache = Components.cache(2 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            assertThat(scan(component.cursor(), true)).isEqualTo(entries.size());
            long all = cache.readAheadBytesMax();
            assertThat(cache.reserveReadAhead(all)).isTrue();
            assertThat(cache.reserveReadAhead(1)).isFalse();
            assertThat(scan(component.cursor(), true)).isEqualTo(entries.size());
            cache.releaseReadAhead(all);
        }
    }

    private static long scan(TreeCursor cursor, boolean forward) {
        long count = 0;
        if (!forward) {
            cursor.seekEnd();
        }
        while (forward ? cursor.next() : cursor.previous()) {
            count++;
        }
        cursor.close();
        return count;
    }
}
