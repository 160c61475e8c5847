package io.turbidite.feeds.cluster.agree;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What a store would do with changes, on a simulated disk: the chains of what was applied in one
 * file, and a file of what was built unseen. Complains of what no node may be asked to do.
 */
final class SimSchema implements NodeSchema {
    private static final String APPLIED = "schema";
    private static final String UNSEEN = "unseen";

    private final Disk disk;
    private final String node;
    private final SimBug bug;
    private final List<Long> chains = new ArrayList<>();
    private @Nullable Entry prepared;

    /** By the bug: what it says to have applied, and has not. */
    private @Nullable Entry pretended;

    /** Whether the node serves; set before each message. */
    boolean isServing;

    SimSchema(Disk disk, String node, SimBug bug) {
        this.disk = disk;
        this.node = node;
        this.bug = bug;
        if (disk.exists(APPLIED)) {
            try (DiskFile file = disk.openReadOnly(APPLIED)) {
                byte[] bytes = new byte[(int) file.size()];
                file.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
                for (String line : new String(bytes, StandardCharsets.US_ASCII).split(" ", -1)) {
                    if (!line.isEmpty()) {
                        chains.add(Long.parseLong(line));
                    }
                }
            }
        }
        deleteUnseen();
    }

    private void deleteUnseen() {
        if (disk.exists(UNSEEN)) {
            disk.delete(UNSEEN);
        }
    }

    /** Whether something is built that nobody sees. */
    boolean hasLeftovers() {
        return prepared != null || disk.exists(UNSEEN);
    }

    /** Of all changes that were applied. */
    List<Long> chains() {
        return chains;
    }

    @Override
    public long applied() {
        return pretended != null && !isServing ? pretended.number() : chains.size();
    }

    @Override
    public long chain() {
        if (pretended != null && !isServing) {
            return pretended.chain();
        }
        return chains.isEmpty() ? Entry.CHAIN_START : chains.getLast();
    }

    @Override
    public void checkFits(List<Entry> missing) {
        check(!missing.isEmpty(), "look at nothing", null);
        check(missing.getFirst().number() == applied() + 1, "look at", missing.getFirst());
    }

    /** Some indexes can't be built on some nodes. The fourth has nothing when it joins. */
    private boolean isImpossible(Entry entry) {
        return entry.change() instanceof IndexCreated created
                && !node.equals("n4")
                && (created.index().name() + node).hashCode() % 4 == 0;
    }

    @Override
    public @Nullable String prepare(Entry entry, ClusterMap before) {
        check(entry.number() == chains.size() + 1, "prepare", entry);
        check(prepared == null, "prepare beside another", entry);
        if (bug == SimBug.PREPARES_NOTHING) {
            return null;
        }
        if (isImpossible(entry)) {
            return "a record has a key that is too long";
        }
        try (DiskFile file = disk.create(UNSEEN)) {
            file.write(0, MemorySegment.ofArray(new byte[100]), 0, 100);
            file.sync();
        }
        prepared = entry;
        return null;
    }

    @Override
    public void discard() {
        check(prepared != null || bug != SimBug.NONE, "discard nothing", null);
        prepared = null;
        deleteUnseen();
    }

    @Override
    public void apply(Entry entry, ClusterMap before) {
        if (bug == SimBug.WHO_COMES_BACK_APPLIES_NOTHING && !isServing) {
            pretended = entry;
            return;
        }
        check(entry.number() == chains.size() + 1, "apply", entry);
        check(!isImpossible(entry), "apply what is impossible here,", entry);
        check(
                !isServing || entry.equals(prepared),
                "apply, while it serves, what it has not prepared,",
                entry);
        List<Long> more = new ArrayList<>(chains);
        more.add(entry.chain());
        StringBuilder text = new StringBuilder();
        more.forEach(chain -> text.append(chain).append(' '));
        WholeFile.of(disk, APPLIED).write(text.toString().getBytes(StandardCharsets.US_ASCII));
        chains.add(entry.chain());
        prepared = null;
        deleteUnseen();
    }

    private void check(boolean holds, String what, @Nullable Entry entry) {
        if (!holds) {
            throw new AssertionError("node %s, which has %d changes, is to %s %s"
                    .formatted(node, chains.size(), what, entry));
        }
    }
}
