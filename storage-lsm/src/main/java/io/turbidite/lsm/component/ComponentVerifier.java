package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.TreeWalker;
import io.turbidite.lsm.component.Block.Kind;
import io.turbidite.lsm.rtree.Boxes;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.function.Consumer;

/**
 * Checks one component: every checksum, and what its parts say of one another.
 *
 * <ol>
 *   <li>Header, footer, table of contents, interiors, Bloom filter, boxes and sample are read
 *       again.
 *   <li>Each tree: order, ordinals, fences, entries inside their pages, timestamps inside the ID.
 *   <li>Both trees say the same at each ordinal that can be read in both.
 *   <li>The Bloom filter lets every key through, every entry is in its boxes; counts, smallest and
 *       largest key are right.
 * </ol>
 *
 * <p><em>Confined to one thread.</em> Used once.
 */
final class ComponentVerifier {
    /** A damaged file is not described to the last entry. */
    private static final int FINDINGS_MAX = 1_000;

    private final DiskComponent component;
    private final Consumer<CorruptionException> out;
    private final Slice value = new Slice();
    private final Slice token = new Slice();
    private final Box box = new Box();
    private int findingCount;
    private boolean pagesDamaged;

    ComponentVerifier(DiskComponent component, Consumer<CorruptionException> out) {
        this.component = component;
        this.out = out;
    }

    void run() {
        checkMetadata();
        Fences keys = component.keyFences();
        // 2. the trees, side by side
        try (TreeWalker records = walker(Kind.RECORD_LEAF, component.recordFences());
                TreeWalker keyWalker = keys == null ? null : walker(Kind.KEY_LEAF, keys)) {
            walk(records, keyWalker);
        }
    }

    /** Step 1 alone: what was read when the component was opened, again. */
    void checkMetadata() {
        ComponentMeta.Sections sections = component.meta().sections();
        guarded(component::reread);
        guardedSection(Kind.RECORD_INTERIOR, sections.recordInterior());
        if (component.keyFences() != null) {
            guardedSection(Kind.KEY_INTERIOR, sections.keyInterior());
        }
        if (component.options().bloom()) {
            guardedSection(Kind.BLOOM, sections.bloom());
        }
        if (component.options().boxes() != null) {
            guardedSection(Kind.BOXES, sections.boxes());
        }
        guarded(component::rereadSample);
    }

    /** Reads the record tree's leaf pages, and compares each with its checksum. */
    void checkPages() {
        Fences fences = component.recordFences();
        try (StreamedLeafPages pages = streamed(Kind.RECORD_LEAF, fences)) {
            for (int i = 0; i < fences.pageCount(); i++) {
                int page = i;
                guarded(() -> pages.page(page));
            }
        }
    }

    private StreamedLeafPages streamed(Kind kind, Fences fences) {
        return new StreamedLeafPages(
                component.blocks(), kind, fences, DiskComponent.READ_AHEAD_BYTES);
    }

    private void walk(TreeWalker records, @Nullable TreeWalker keys) {
        Fences fences = component.recordFences();
        ComponentId id = component.id();
        long entries = 0;
        long antimatter = 0;
        long distinct = 0;
        boolean keysLeft = keys != null && keys.next();
        while (records.next()) {
            long ordinal = records.ordinal();
            if (entries == 0 && ordinal == 0 && !records.key().contentEquals(component.minKey())) {
                problem(Kind.RECORD_LEAF, fences, 0, "smallest key is " + records.key());
            }
            entries++;
            if (records.isAntimatter()) {
                antimatter++;
                if (records.value(value).length() > 0) {
                    problem(ordinal, "anti-matter with a value");
                }
            }
            if (!id.covers(records.timestamp())) {
                problem(ordinal, "timestamp %d outside %s".formatted(records.timestamp(), id));
            }
            checkBoxes(records, ordinal);
            if (records.isNewKey()) {
                distinct++;
                checkBloom(records.key(), ordinal);
            }
            if (ordinal == component.entryCount() - 1
                    && !records.key().contentEquals(component.maxKey())) {
                problem(ordinal, "largest key is " + records.key());
            }
            while (keysLeft && keys != null && keys.ordinal() < ordinal) {
                keysLeft = keys.next();
            }
            if (keysLeft && keys != null && keys.ordinal() == ordinal && !same(records, keys)) {
                problem(
                        ordinal,
                        "%s at %d, in the key tree %s at %d"
                                .formatted(
                                        records.key(),
                                        records.timestamp(),
                                        keys.key(),
                                        keys.timestamp()));
            }
        }
        while (keysLeft && keys != null) {
            keysLeft = keys.next();
        }
        if (!pagesDamaged) {
            count("entries", component.entryCount(), entries);
            count("anti-matter entries", component.antimatterCount(), antimatter);
            count("distinct keys", component.keyCount(), distinct);
        }
    }

    /** A key, or an entry's token, that the filter does not let through is not found. */
    private void checkBloom(Slice key, long ordinal) {
        if (!component.mayContain(BloomFilter.hash(key))) {
            problem(ordinal, "%s is not in the Bloom filter".formatted(key));
        }
        if (!component.options().tokens()) {
            return;
        }
        int bytes = TokenKeys.tokenBytes(key);
        if (bytes < 0) {
            problem(ordinal, "%s begins with no token".formatted(key));
        } else if (!component.mayContainToken(
                BloomFilter.hash(token.set(key.segment(), key.offset(), bytes)))) {
            problem(ordinal, "the token of %s is not in the Bloom filter".formatted(key));
        }
    }

    /** An entry whose box is too small is not found. */
    private void checkBoxes(TreeWalker records, long ordinal) {
        SpatialKind kind = component.options().boxes();
        Boxes boxes = component.boxes();
        if (kind == null || boxes == null) {
            return;
        }
        try {
            kind.decode(records.key(), 0, box);
        } catch (CorruptionException noKey) {
            problem(ordinal, "%s is no spatial key".formatted(records.key()));
            return;
        }
        Fences fences = component.recordFences();
        int page = fences.pageOfOrdinal(ordinal);
        String problem = boxes.problemOf(page, ordinal - fences.firstOrdinal(page), box);
        if (problem != null) {
            problem(ordinal, problem);
        }
    }

    private static boolean same(TreeWalker records, TreeWalker keys) {
        return records.timestamp() == keys.timestamp()
                && records.isAntimatter() == keys.isAntimatter()
                && records.key().contentEquals(keys.key());
    }

    private TreeWalker walker(Kind kind, Fences fences) {
        return new TreeWalker(fences, streamed(kind, fences), new TreeWalker.Findings() {
            @Override
            public void damage(CorruptionException damage) {
                pagesDamaged = true;
                report(damage);
            }

            @Override
            public void problem(int page, String problem) {
                pagesDamaged = true;
                ComponentVerifier.this.problem(kind, fences, page, problem);
            }
        });
    }

    private void problem(long ordinal, String problem) {
        Fences fences = component.recordFences();
        problem(
                Kind.RECORD_LEAF,
                fences,
                fences.pageOfOrdinal(ordinal),
                "entry with ordinal %d: %s".formatted(ordinal, problem));
    }

    private void problem(Kind kind, Fences fences, int page, String problem) {
        report(component.blocks().expected(kind, page, fences.fileOffset(page)).malformed(problem));
    }

    private void count(String what, long expected, long found) {
        if (expected != found) {
            report(new CorruptionException(
                    component.name(), 0, what, Long.toString(expected), Long.toString(found)));
        }
    }

    private void guardedSection(Kind kind, BlockWriter.Section section) {
        guarded(() -> {
            try (Arena arena = NativeMemory.confined("a verifier")) {
                component.blocks().readSection(kind, section, arena);
            }
        });
    }

    private void guarded(Runnable check) {
        try {
            check.run();
        } catch (CorruptionException e) {
            report(e);
        }
    }

    private void report(CorruptionException finding) {
        if (findingCount++ < FINDINGS_MAX) {
            out.accept(finding);
        }
    }
}
