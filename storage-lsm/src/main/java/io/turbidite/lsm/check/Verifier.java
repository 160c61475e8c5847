package io.turbidite.lsm.check;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.lsm.component.ComponentDamage;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.partition.ComponentFiles;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.MutableValidityBitmap;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Checks a store at a snapshot:
 *
 * <ol>
 *   <li>each component file from end to end: checksums, order, ordinals, counts, Bloom filter,
 *       padding, and the file of its invalid entries,
 *   <li>under mutable-bitmap, that exactly the superseded records are marked,
 *   <li>that each layer's ID lies wholly above the next older one's,
 *   <li>each index against the primary: as many valid entries as live records, and each entry is
 *       the one that its record gives. Entries are distinct, so the two together mean that they are
 *       the same set. Where a record gives many entries, the sums of their hashes are compared
 *       first: each record is then read once, not once for each of its words,
 *   <li>each region, by its kind: what it has is sound, and its tables know at least as much.
 * </ol>
 */
public final class Verifier {
    /** The counter of what was verified. */
    public static final String BYTES = "verify.bytes";

    private final List<String> errors = new ArrayList<>();
    private int components;
    private long records;

    private Verifier() {}

    /** The entries that records give to an index: how many, and the sum of their hashes. */
    private record Given(long count, long hashSum) {}

    /** A dataset to be checked, at a view of one moment. */
    public record Subject(DatasetSchema schema, List<Partition> partitions, ReadView view) {}

    /**
     * Checks the frame of a store in a fraction of the time: the sizes of the component files,
     * everything in them but the leaf pages, and that each layer lies above the next older one. No
     * record is read.
     */
    public static VerifyReport verifyQuickly(List<Subject> subjects) {
        Verifier verifier = new Verifier();
        for (Subject subject : subjects) {
            for (Partition partition : subject.partitions()) {
                verifier.checkComponents(partition, DiskComponent::verifyMetadata);
            }
        }
        return new VerifyReport(subjects.size(), verifier.components, 0, verifier.errors);
    }

    /**
     * Checks everything. The counter {@value #BYTES} of the store's meters grows meanwhile by the
     * bytes of the components, twice: as files, and against the primary.
     */
    public static VerifyReport verify(List<Subject> subjects) {
        Verifier verifier = new Verifier();
        for (Subject subject : subjects) {
            for (Partition partition : subject.partitions()) {
                int before = verifier.errors.size();
                verifier.checkComponents(partition, DiskComponent::verify);
                if (verifier.errors.size() == before) {
                    verifier.checkFilters(partition);
                    verifier.checkIndexes(subject, partition);
                }
                count(partition, bytes(partition));
            }
        }
        return new VerifyReport(
                subjects.size(), verifier.components, verifier.records, verifier.errors);
    }

    private static long bytes(Partition partition) {
        Version pinned = partition.pin();
        try {
            return pinned.schema().treeIds().stream()
                    .flatMap(tree -> pinned.tree(tree).stream())
                    .mapToLong(handle -> handle.state().bytes())
                    .sum();
        } finally {
            pinned.unpin();
        }
    }

    private static void count(Partition partition, long bytes) {
        partition.core().meters().counter(BYTES).add(bytes);
    }

    private void report(StorageException damage) {
        String message = damage.getMessage();
        report(message == null ? damage.toString() : message);
    }

    private void report(String error) {
        if (errors.size() < VerifyReport.ERROR_COUNT_MAX) {
            errors.add(error);
        }
    }

    private void checkComponents(
            Partition partition, BiConsumer<DiskComponent, Consumer<CorruptionException>> check) {
        Version pinned = partition.pin();
        try {
            for (TreeId tree : pinned.schema().treeIds()) {
                long above = Long.MAX_VALUE;
                for (ComponentHandle handle : pinned.tree(tree)) {
                    components++;
                    ComponentDamage setAside = handle.component().damage();
                    if (setAside != null) { // what it has is known: its file is counted once
                        report("%s (%s) is in quarantine: %s; %s"
                                .formatted(
                                        handle.component().name(),
                                        setAside.whose(),
                                        setAside.cause(),
                                        setAside.remedy()));
                    } else {
                        String whose = "index %s of %s, partition %d"
                                .formatted(
                                        pinned.schema().treeName(tree),
                                        pinned.schema().name(),
                                        partition.number());
                        check.accept(
                                handle.component(),
                                damage -> report(
                                        "%s; part of %s".formatted(damage.getMessage(), whose)));
                    }
                    count(partition, handle.state().bytes());
                    if (handle.component().isOpen() && !handle.isBitmapUnread()) {
                        checkBitmap(partition, handle);
                    }
                    if (handle.state().maxTimestamp() >= above) {
                        report("%s: component %d covers %d to %d, which is not below %d"
                                .formatted(
                                        partition,
                                        handle.state().fileId(),
                                        handle.state().minTimestamp(),
                                        handle.state().maxTimestamp(),
                                        above));
                    }
                    above = handle.state().minTimestamp();
                }
            }
        } finally {
            pinned.unpin();
        }
    }

    /** What is in memory was checked when it was read: this is about the file. */
    private void checkBitmap(Partition partition, ComponentHandle handle) {
        MutableValidityBitmap live = handle.live();
        if (live != null) {
            BitmapState saved = handle.savedBitmap();
            while (!checkSaved(partition, handle, live, saved)) {
                // another file took its place while it was read
                saved = handle.savedBitmap();
            }
        } else if (handle.invalidEntries() != null) {
            try {
                ComponentFiles.openBitmap(
                                partition.core(),
                                handle.component(),
                                handle.state().invalidEntries())
                        .close();
            } catch (CorruptionException damage) {
                report(damage);
            }
        }
    }

    /**
     * What a live bitmap's file marks is marked in memory, which only grows.
     *
     * @return false if {@code saved} is not the bitmap's file any more
     */
    private boolean checkSaved(
            Partition partition,
            ComponentHandle handle,
            MutableValidityBitmap live,
            BitmapState saved) {
        if (saved.isNone()) {
            return true;
        }
        try (ImmutableValidityBitmap invalidEntries =
                ComponentFiles.openBitmap(partition.core(), handle.component(), saved)) {
            for (long at = invalidEntries.next(0);
                    at != ImmutableValidityBitmap.NONE;
                    at = invalidEntries.next(at + 1)) {
                if (live.invalidatedAt(at) == MutableValidityBitmap.VALID) {
                    report("%s: entry %d of component %d is marked in %s and not in memory"
                            .formatted(
                                    partition,
                                    at,
                                    handle.state().fileId(),
                                    StoreFiles.bitmap(saved.fileId())));
                    return true;
                }
            }
        } catch (StorageException damage) {
            if (!saved.equals(handle.savedBitmap())) {
                return false;
            }
            report(damage);
        }
        return true;
    }

    private void checkFilters(Partition partition) {
        Version pinned = partition.pin();
        try {
            FilterCheck check = new FilterCheck(pinned.schema());
            for (ComponentHandle handle : pinned.tree(TreeId.PRIMARY)) {
                String wrong = check.check(handle.component());
                if (wrong != null) {
                    report(wrong);
                }
            }
        } catch (CorruptionException damage) {
            report(damage);
        } finally {
            pinned.unpin();
        }
    }

    private void checkIndexes(Subject subject, Partition partition) {
        try {
            Map<IndexSchema, Given> given = new HashMap<>();
            long live = countRecords(subject, partition, given);
            if (partition.hasLiveBitmaps()) {
                checkMarks(subject, partition);
            }
            records += live;
            for (IndexSchema index : subject.schema().indexes()) {
                if (index.isReady()) {
                    checkIndexIfThere(subject, partition, index, live, given.get(index));
                }
            }
        } catch (CorruptionException damage) {
            report(damage);
        }
    }

    /** An index that is dropped while it is looked at is no error. */
    private void checkIndexIfThere(
            Subject subject,
            Partition partition,
            IndexSchema index,
            long live,
            @Nullable Given given) {
        try {
            if (given == null || !hasEntries(subject, partition, index, given)) {
                checkIndex(subject, partition, index, given == null ? live : given.count());
            }
        } catch (InvalidRequestException gone) {
            if (partition.schema().index(index.id()) != null) {
                throw gone;
            }
        }
    }

    /**
     * Counts the records.
     *
     * @param given gets, for each multi-valued index, what entries they give it
     */
    private long countRecords(Subject subject, Partition partition, Map<IndexSchema, Given> given) {
        long count = 0;
        List<IndexSchema> multiValued = subject.schema().indexes().stream()
                .filter(index -> index.isReady() && index.entryKeys().isMultiValued())
                .toList();
        multiValued.forEach(index -> given.put(index, new Given(0, 0)));
        EntryKeyList keys = new EntryKeyList();
        Slice slice = new Slice();
        boolean isAmbiguous = subject.schema().primaryKey().isAmbiguous();
        RecordView record = new RecordView(subject.schema().type());
        try (RecordCursor cursor =
                subject.view().scan(partition.number(), KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                record.wrap(cursor.record());
                count++;
                for (IndexSchema index : multiValued) {
                    index.makeIfFits(record, cursor.key(), keys);
                    long sum = 0;
                    for (int i = 0; i < keys.count(); i++) {
                        sum += BloomFilter.hash(keys.key(i, slice));
                    }
                    given.merge(
                            index,
                            new Given(keys.count(), sum),
                            (a, b) -> new Given(a.count() + b.count(), a.hashSum() + b.hashSum()));
                }
                if (isAmbiguous) {
                    checkTwins(subject, partition, cursor.key());
                }
            }
        }
        return count;
    }

    /**
     * Two records whose keys are the two zeros are one value's: a release that kept them apart
     * wrote both. Which of them is wanted, only their owner knows.
     */
    private void checkTwins(Subject subject, Partition partition, Slice key) {
        KeySpec spec = subject.schema().primaryKey();
        RecordView record = new RecordView(subject.schema().type());
        ByteSink bytes = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX);
        ByteSink found = new ByteSink(256, Limits.KEY_BYTES_MAX);
        Slice slice = new Slice();
        for (Slice other : spec.alternatives(key)) {
            if (other.compareBytes(key) > 0 && subject.view().get(other, bytes.clear())) {
                spec.append(record.wrap(bytes.asSlice(slice)), found.clear());
                if (found.asSlice(slice).contentEquals(other)) {
                    report(
                            "%s: two records have one key by value, %s and %s: delete both and put the one that is wanted"
                                    .formatted(
                                            partition, spec.decode(key, 0), spec.decode(other, 0)));
                }
            }
        }
    }

    /**
     * The records that a scan finds by the marks of superseded ones are those that the key trees
     * tell of.
     */
    private void checkMarks(Subject subject, Partition partition) {
        try (RecordCursor marked = subject.view()
                        .scan(partition.number(), KeyRange.all(), FilterPredicate.none());
                MarkCheck keys = MarkCheck.open(partition, subject.view().timestamp())) {
            String problem = keys.compare(marked);
            if (problem != null) {
                report("%s: %s".formatted(partition, problem));
            }
        }
    }

    /**
     * Whether the index has as many entries as the records give it, with the same sum of hashes.
     * If not, {@link #checkIndex} finds out what is wrong, and makes all keys of a record anew for
     * each of its entries: with ten thousand words a record that takes minutes.
     */
    private static boolean hasEntries(
            Subject subject, Partition partition, IndexSchema index, Given given) {
        ByteSink entryKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
        Slice slice = new Slice();
        long count = 0;
        long sum = 0;
        try (ValidSearch cursor = openAll(subject, partition, index)) {
            while (cursor.next()) {
                entryKey.clear().putBytes(cursor.secondaryKey()).putBytes(cursor.primaryKey());
                sum += BloomFilter.hash(entryKey.asSlice(slice));
                count++;
            }
        }
        return count == given.count() && sum == given.hashSum();
    }

    private static ValidSearch openAll(Subject subject, Partition partition, IndexSchema index) {
        return ValidSearch.open(
                subject.view(),
                partition.number(),
                index.describe(),
                KeyRange.all(),
                FilterPredicate.none());
    }

    private void checkIndex(
            Subject subject, Partition partition, IndexSchema index, long expected) {
        String where = "%s, index %s".formatted(partition, index.name());
        StorageException failure = regionFailure(partition, index);
        if (failure != null) {
            report("%s: its region failed: %s".formatted(where, failure.getMessage()));
            return;
        }
        RecordView record = new RecordView(subject.schema().type());
        ByteSink bytes = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX);
        EntryKeyList wanted = new EntryKeyList();
        ByteSink entryKey = new ByteSink(256, 2 * Limits.KEY_BYTES_MAX);
        Slice slice = new Slice();
        long entries = 0;
        try (ValidSearch cursor = openAll(subject, partition, index)) {
            while (cursor.next()) {
                entries++;
                if (!subject.view().get(cursor.primaryKey(), bytes)) {
                    report("%s: entry %s has no record"
                            .formatted(where, describe(subject, cursor)));
                    continue;
                }
                index.makeIfFits(record.wrap(bytes.asSlice(slice)), cursor.primaryKey(), wanted);
                entryKey.clear().putBytes(cursor.secondaryKey()).putBytes(cursor.primaryKey());
                if (!wanted.contains(entryKey.asSlice(slice))) {
                    report("%s: entry %s is not one that its record gives"
                            .formatted(where, describe(subject, cursor)));
                }
            }
        }
        checkRegion(partition, index, where);
        if (entries != expected) {
            report(
                    index.entryKeys().isMultiValued()
                            ? "%s: %d entries where the records give %d"
                                    .formatted(where, entries, expected)
                            : "%s: %d entries for %d records".formatted(where, entries, expected));
        }
    }

    private static @Nullable StorageException regionFailure(
            Partition partition, IndexSchema index) {
        RegionLayer layer = partition.version().region(index.tree());
        return layer == null ? null : layer.handle().failure();
    }

    /** What an index has in place of components. */
    private void checkRegion(Partition partition, IndexSchema index, String where) {
        Version pinned = partition.pin();
        try {
            RegionLayer layer = pinned.region(index.tree());
            if (layer != null && layer.handle().failure() == null) {
                layer.handle()
                        .region()
                        .verify(finding -> report("%s, its region: %s".formatted(where, finding)));
            }
        } finally {
            pinned.unpin();
        }
    }

    private static String describe(Subject subject, ValidSearch cursor) {
        return subject.schema().primaryKey().decode(cursor.primaryKey(), 0).toString();
    }
}
