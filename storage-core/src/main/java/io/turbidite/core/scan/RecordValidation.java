package io.turbidite.core.scan;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.EntryKeys;
import io.turbidite.core.record.RecordView;

/**
 * Finds out which entries of an always valid index are current, in a search that skipped layers. An
 * entry is current if it is among those of the record of its primary key (LUO19 §4.3, direct
 * validation). Timestamps can't tell: eager maintenance leaves an unchanged entry as it is.
 */
final class RecordValidation {
    private RecordValidation() {}

    /** Marks the valid ones of {@code candidates}; sorts their primary keys. */
    static void run(
            ReadView view,
            int partition,
            IndexDescription index,
            IndexSearch search,
            CandidateBatch candidates) {
        KeyBatch keys = candidates.primaryKeys();
        keys.sort();
        KeyBatch doubtful = new KeyBatch(Math.max(Limits.KEY_BYTES_MAX, keys.byteCount()));
        Slice key = new Slice();
        for (int i = 0; i < keys.size(); i++) {
            int added = keys.addedIndex(i);
            if (candidates.checkedUntil(added) == Long.MAX_VALUE) {
                candidates.markValid(added);
            } else {
                doubtful.add(keys.key(i, key));
            }
        }
        if (doubtful.size() > 0) {
            doubtful.sortDistinct();
            compare(view, partition, index, search, doubtful, candidates);
        }
    }

    /** Whether the record has as many of the terms as are wanted. */
    private static boolean hasTerms(
            TermSearch search,
            EntryKeyList current,
            Slice primaryKey,
            ByteSink entry,
            Slice entryKey) {
        int found = 0;
        int left = search.terms().size();
        for (int i = 0; found < search.least() && found + left >= search.least(); i++) {
            entry.clear().putBytes(search.secondaryKey(i)).putBytes(primaryKey);
            found += current.contains(entry.asSlice(entryKey)) ? 1 : 0;
            left--;
        }
        return found == search.least();
    }

    private static void compare(
            ReadView view,
            int partition,
            IndexDescription index,
            IndexSearch search,
            KeyBatch doubtful,
            CandidateBatch candidates) {
        KeyBatch keys = candidates.primaryKeys();
        EntryKeys entryKeys = index.entryKeys(view.source().type());
        RecordView record = new RecordView(view.source().type());
        EntryKeyList current = new EntryKeyList();
        ByteSink entry = new ByteSink(64, Integer.MAX_VALUE - 8);
        Slice entryKey = new Slice();
        Slice key = new Slice();
        int at = 0;
        try (RecordStream records = view.fetch(partition, doubtful)) {
            while (records.next()) {
                entryKeys.append(record.wrap(records.record()), records.key(), current.clear());
                while (at < keys.size() && keys.key(at, key).compareBytes(records.key()) < 0) {
                    at++;
                }
                while (at < keys.size() && keys.key(at, key).contentEquals(records.key())) {
                    int added = keys.addedIndex(at++);
                    entry.clear().putBytes(candidates.secondaryKey(added, key));
                    boolean isCurrent = search instanceof TermSearch terms
                            ? hasTerms(terms, current, records.key(), entry, entryKey)
                            : current.contains(entry.putBytes(records.key()).asSlice(entryKey));
                    if (isCurrent) {
                        candidates.markValid(added);
                    }
                }
            }
        }
    }
}
