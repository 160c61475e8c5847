package io.turbidite.pm.index;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.tree.PsTree;
import io.turbidite.pm.tree.TreeCursor;
import io.turbidite.pm.validate.Validation;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Reads all of an open region once more, and compares what it says with what the writer believes.
 *
 * <ol>
 *   <li>Tree and tables are read as an opening does: every node and group is sound, and no page is
 *       reached twice.
 *   <li>The pages that were reached are those in use; none of them is free.
 *   <li>Each entry's primary key is in the table of versions, with a timestamp that is not older,
 *       and with at least as many entries as there are.
 *   <li>The table of stale keys has at least as many stale entries of a key as are there unmarked.
 * </ol>
 *
 * <p><em>Confined to the writer</em>: nothing may change meanwhile.
 */
final class RegionCheck {
    /** Keys that are counted in one walk: more take more walks, and no more memory. */
    private static final int KEYS_A_WALK = 1 << 20;

    private static final int FINDING_COUNT_MAX = 10;

    private final Validation believed;
    private final Consumer<String> wrong;
    private int findingCount;

    /** Open addressing: where the table has a key, its entries, and the stale ones among them. */
    private long[] places = new long[1 << 10];

    private int[] entryCounts = new int[1 << 10];
    private int[] staleCounts = new int[1 << 10];
    private int keyCount;

    private RegionCheck(PmIndex index, Consumer<String> wrong) {
        this.believed = index.validation();
        this.wrong = wrong;
    }

    /**
     * Checks a region.
     *
     * @param account for a second table of stale keys
     * @throws io.turbidite.core.CorruptionException if it can't be read as a whole
     */
    static void run(PmIndex index, MemoryBudget.Account account, Consumer<String> wrong) {
        Region again = index.region().toCheck();
        try (Validation validation = Validation.open(again, account)) {
            PsTree tree = PsTree.open(again, validation);
            index.region().pages().compare(again.pages(), wrong);
            RegionCheck check = new RegionCheck(index, wrong);
            if (tree.entryCount() != index.tree().entryCount()) {
                check.find("%d entries are there, and %d count"
                        .formatted(tree.entryCount(), index.tree().entryCount()));
            }
            if (validation.keyCount() != check.believed.keyCount()) {
                check.find("the table of versions has %d keys, and %d count"
                        .formatted(validation.keyCount(), check.believed.keyCount()));
            }
            long walks = 1 + validation.keyCount() / KEYS_A_WALK;
            for (long walk = 0; walk < walks; walk++) {
                check.walk(tree, walk, walks);
            }
        }
    }

    private void find(String finding) {
        if (findingCount++ < FINDING_COUNT_MAX) {
            wrong.accept(finding);
        }
    }

    private void walk(PsTree tree, long walk, long walks) {
        Arrays.fill(places, 0);
        keyCount = 0;
        each(tree, walk, walks, true);
        each(tree, walk, walks, false);
    }

    /** Goes through the entries of a share of the keys: first to count, then to compare. */
    private void each(PsTree tree, long walk, long walks, boolean isCounting) {
        TreeCursor keys = tree.keys();
        PostingCursor entries = tree.postings();
        keys.open(null, null, false);
        while (keys.next()) {
            entries.open(keys.pointer());
            long before = Long.MAX_VALUE;
            while (entries.next()) {
                // those of an absorption that was taken back are marked, and came again
                if (isCounting && walk == 0 && !entries.isMarked()) {
                    if (entries.timestamp() > before) {
                        find("an entry of %d lies behind one of %d"
                                .formatted(entries.timestamp(), before));
                    }
                    before = entries.timestamp();
                }
                entry(entries, walk, walks, isCounting);
            }
        }
    }

    private void entry(PostingCursor entry, long walk, long walks, boolean isCounting) {
        Slice key = entry.primaryKey();
        long place = believed.placeOf(key);
        if (place < 0) {
            if (isCounting && walk == 0) {
                find("the table of versions lacks the key of an entry of " + entry.timestamp());
            }
            return;
        }
        if (Long.remainderUnsigned(place / Long.BYTES, walks) != walk) {
            return;
        }
        long newest = believed.newest(key);
        int at = at(place);
        if (isCounting) {
            if (newest < entry.timestamp() && !entry.isMarked()) {
                find("the table of versions has %d for a key that has an entry of %d"
                        .formatted(newest, entry.timestamp()));
            }
            entryCounts[at]++;
            staleCounts[at] += !entry.isMarked() && newest != entry.timestamp() ? 1 : 0;
            return;
        }
        int known = believed.entryCount(key);
        if (known < Math.min(entryCounts[at], Validation.COUNT_MAX)) {
            find("the table of versions counts %d entries of a key that has %d"
                    .formatted(known, entryCounts[at]));
        }
        int stale = believed.staleCount(key);
        if (stale >= 0 && stale < Math.min(staleCounts[at], Validation.COUNT_MAX)) {
            find("the table of stale keys counts %d stale entries of a key that has %d"
                    .formatted(stale, staleCounts[at]));
        }
    }

    private int at(long place) {
        if (2 * keyCount >= places.length) {
            grow();
        }
        int at = slot(place);
        if (places[at] == 0) {
            places[at] = place;
            entryCounts[at] = 0;
            staleCounts[at] = 0;
            keyCount++;
        }
        return at;
    }

    private int slot(long place) {
        int mask = places.length - 1;
        int at = (int) ((place * 0x9E3779B97F4A7C15L) >>> 40) & mask;
        while (places[at] != 0 && places[at] != place) {
            at = (at + 1) & mask;
        }
        return at;
    }

    private void grow() {
        long[] oldPlaces = places;
        int[] oldEntries = entryCounts;
        int[] oldStale = staleCounts;
        places = new long[2 * oldPlaces.length];
        entryCounts = new int[places.length];
        staleCounts = new int[places.length];
        for (int i = 0; i < oldPlaces.length; i++) {
            if (oldPlaces[i] != 0) {
                int at = slot(oldPlaces[i]);
                places[at] = oldPlaces[i];
                entryCounts[at] = oldEntries[i];
                staleCounts[at] = oldStale[i];
            }
        }
    }
}
