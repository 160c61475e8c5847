package io.turbidite.pm.region;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.index.RegionSessions;

import org.jspecify.annotations.Nullable;

/**
 * An open region: its memory, its header, its pages. It has tree and tables of one index of one
 * partition, and one writer.
 *
 * <p><em>Confined to the writer</em>; readers use the {@link #memory()} alone. All changes lie
 * between {@link #begin} and {@link #commit}: whoever opens the region knows from its header
 * whether it was between them.
 *
 * <ol>
 *   <li><em>dax</em>: what was fenced is there. A cut absorption is taken back by whoever knows the
 *       entries.
 *   <li><em>file</em>: pages are written back in any order. So each commit stores the sum over all
 *       blocks, and an opening without a clean close compares. A cut absorption is refused.
 *   <li><em>volatile</em>: never opened, always made.
 * </ol>
 */
public final class Region implements AutoCloseable {
    /** The header's chunk, and one each for nodes and postings. */
    static final long BYTES_MIN = 4L * Pages.CHUNK_BYTES;

    private final RegionMemory memory;
    private final RegionSpec spec;
    private final Epochs epochs;
    private final DirtyLines dirty;
    private final Pages pages;
    private final BlockSums sums;
    private final boolean isSummed;
    private RegionHeader header;
    private boolean closed;

    private Region(RegionMemory memory, RegionSpec spec, Epochs epochs, RegionHeader header) {
        this.memory = memory;
        this.spec = spec;
        this.epochs = epochs;
        this.header = header;
        this.isSummed = memory.mode() == RegionMode.FILE;
        this.sums = new BlockSums(memory);
        this.dirty = new DirtyLines(memory, isSummed ? sums : null);
        this.pages = new Pages(memory, epochs, spec.bytesMax());
    }

    /**
     * Makes a region without roots, in the middle of its first absorption: {@link #setRoots} and
     * {@link #commit} come next. The memory may hold anything, an older region for example.
     *
     * @param epochs that protect the readers
     */
    public static Region create(RegionMemory memory, RegionSpec spec, Epochs epochs) {
        if (!memory.grow(2L * RegionHeader.SLOT_STRIDE)) {
            throw Pages.full(memory, spec.bytesMax());
        }
        RegionHeader first = new RegionHeader(
                1,
                RegionHeader.State.ABSORBING,
                0,
                0,
                0,
                0,
                spec.pageBytes(),
                memory.mode(),
                0,
                spec.sessions().now(),
                spec.sessions().now());
        Region region = new Region(memory, spec, epochs, first);
        // the other slot may be an older region's, with a larger sequence
        region.clearSlot(0);
        region.clearSlot(1);
        memory.fence();
        region.sums.changed(0, memory.byteSize());
        region.write(first);
        return region;
    }

    private void clearSlot(int slot) {
        long at = (long) slot * RegionHeader.SLOT_STRIDE;
        for (int i = 0; i < RegionHeader.SLOT_BYTES; i += 8) {
            memory.putLong(at + i, 0);
        }
        memory.writeBack(at, RegionHeader.SLOT_BYTES);
    }

    /**
     * Opens a region as it was left.
     *
     * @param absorbedMin what the owner knows to be absorbed: less is a stale region
     * @throws CorruptionException if it can't be trusted: damaged, another's, stale, of another
     *     mode (its file was copied to other memory, whose rules it did not go by), of another
     *     session than the store's last one, or in file mode
     *     not what its last absorption left; or a release that did not note where an absorption was
     *     to end was cut in the middle of one
     */
    public static Region open(
            RegionMemory memory, RegionSpec spec, Epochs epochs, long absorbedMin) {
        if (memory.byteSize() < Pages.CHUNK_BYTES) {
            throw new CorruptionException(
                    memory.name(),
                    0,
                    "region",
                    "%d bytes or more".formatted(Pages.CHUNK_BYTES),
                    memory.byteSize() + " bytes");
        }
        RegionHeader found = RegionHeader.read(memory, spec);
        RegionMode kept = found.mode();
        if (kept != null && kept != memory.mode()) {
            throw new CorruptionException(
                    memory.name(),
                    RegionHeader.MODE_OFFSET,
                    "mode",
                    memory.mode().name(),
                    kept.name());
        }
        long last = spec.sessions().last();
        if (!found.isOfSession(last)) {
            throw new CorruptionException(
                    memory.name(),
                    RegionHeader.SESSION_OFFSET,
                    "session of the store",
                    "%x, the last one that its manifest names".formatted(last),
                    "%x: this region has gone on with other files of the store"
                            .formatted(found.session()));
        }
        if (found.absorbedThrough() < absorbedMin) {
            throw new CorruptionException(
                    memory.name(),
                    RegionHeader.ABSORBED_OFFSET,
                    "absorbed timestamp",
                    absorbedMin + " or more",
                    String.valueOf(found.absorbedThrough()));
        }
        Region region = new Region(memory, spec, epochs, found);
        region.checkContents();
        return region;
    }

    /** The mode that a region says it has; null if it does not say, or can't be read. */
    public static @Nullable RegionMode keptMode(RegionMemory memory, RegionSpec spec) {
        if (memory.byteSize() < Pages.CHUNK_BYTES) {
            return null;
        }
        try {
            return RegionHeader.read(memory, spec).mode();
        } catch (CorruptionException | FormatVersionException unreadable) {
            return null; // the opening says what is wrong with it
        }
    }

    private void checkContents() {
        boolean wasCut = header.state() == RegionHeader.State.ABSORBING;
        boolean isUnknown = wasCut && header.reachedThrough() == 0;
        if (header.treeRoot() == 0 || isUnknown || (isSummed && wasCut)) {
            throw new CorruptionException(
                    memory.name(), RegionHeader.STATE_OFFSET, "state", "whole", "a cut absorption");
        }
        if (isSummed) {
            sums.changed(0, memory.byteSize());
            long sum = sums.update();
            if (sum != header.sum()) {
                throw new CorruptionException(
                        memory.name(),
                        2L * RegionHeader.SLOT_STRIDE,
                        "sum of all blocks",
                        Long.toHexString(header.sum()),
                        Long.toHexString(sum));
            }
        }
    }

    /**
     * The same region with pages of its own, none of them claimed yet: for whoever reads all of it
     * once more, while nobody writes. It is neither written to nor closed.
     */
    public Region toCheck() {
        return new Region(memory, spec, epochs, header);
    }

    public RegionMemory memory() {
        return memory;
    }

    public Epochs epochs() {
        return epochs;
    }

    /** What the writer has stored to since the last fence. */
    public DirtyLines dirty() {
        return dirty;
    }

    public Pages pages() {
        return pages;
    }

    public RegionSpec spec() {
        return spec;
    }

    /** The timestamp up to which it has absorbed, by its header. */
    public long absorbedThrough() {
        return header.absorbedThrough();
    }

    /**
     * The largest timestamp that any absorption was to end with, a cut one too: nothing here is of
     * a later one. It outlives what takes a cut absorption back.
     */
    public long reachedThrough() {
        return Math.max(header.reachedThrough(), header.absorbedThrough());
    }

    /**
     * Notes durably that the store is in another session now, and that its contents are those of
     * the last one still: the next absorption changes that. It comes before the manifest names the
     * session, so a crash in between leaves a region that the last session's manifest knows.
     */
    public void beginSession() {
        RegionSessions sessions = spec.sessions();
        boolean isNoted =
                header.session() == sessions.now() && header.contentSession() == sessions.last();
        if (isNoted) {
            return;
        }
        header = header.of(sessions.now(), sessions.last());
        write(header.state(), header.absorbedThrough(), header.reachedThrough());
        if (isSummed) {
            memory.force(); // the manifest may outlive a machine that forgets it
        }
    }

    /** Whether the last absorption was not committed: its entries are to be taken back. */
    public boolean isAbsorbing() {
        return header.state() == RegionHeader.State.ABSORBING;
    }

    /** Offset of the first node of the secondary-key layer. */
    public long treeRoot() {
        return header.treeRoot();
    }

    /** Offset of the first bucket of the table of versions. */
    public long tableRoot() {
        return header.tableRoot();
    }

    /** Names what a new region begins with; durable with the next commit. */
    public void setRoots(long treeRoot, long tableRoot) {
        header = new RegionHeader(
                header.sequence(),
                header.state(),
                header.absorbedThrough(),
                header.sum(),
                treeRoot,
                tableRoot,
                header.pageBytes(),
                memory.mode(),
                header.reachedThrough(),
                header.session(),
                header.contentSession());
    }

    /**
     * Says durably that changes follow.
     *
     * @param through none of them is of a later timestamp
     */
    public void begin(long through) {
        header = header.of(header.session(), header.session());
        beginTakingBack(through);
    }

    /**
     * As {@link #begin}, for changes that leave what the last session's manifest knows: the
     * contents stay that session's.
     */
    public void beginTakingBack(long through) {
        if (!isAbsorbing() || through > reachedThrough()) {
            write(RegionHeader.State.ABSORBING, header.absorbedThrough(), through);
        }
    }

    /**
     * Says durably that all changes are whole, and up to which timestamp.
     *
     * @throws InvalidRequestException if that is later than {@link #begin} said
     */
    public void commit(long absorbedThrough) {
        if (absorbedThrough > reachedThrough()) {
            throw new InvalidRequestException("absorbed through %d, begun for %d or less"
                    .formatted(absorbedThrough, reachedThrough()));
        }
        dirty.settle();
        write(RegionHeader.State.OPEN, absorbedThrough, absorbedThrough);
        pages.release();
    }

    private void write(RegionHeader.State state, long absorbedThrough, long through) {
        write(new RegionHeader(
                header.sequence() + 1,
                state,
                absorbedThrough,
                isSummed ? sums.update() : 0,
                header.treeRoot(),
                header.tableRoot(),
                header.pageBytes(),
                memory.mode(),
                Math.max(reachedThrough(), through),
                header.session(),
                header.contentSession()));
    }

    private void write(RegionHeader next) {
        long at = (next.sequence() & 1) * RegionHeader.SLOT_STRIDE;
        memory.putBytes(at, next.encode(spec), 0, RegionHeader.SLOT_BYTES);
        memory.writeBack(at, RegionHeader.SLOT_BYTES);
        memory.fence();
        header = next;
    }

    /**
     * Forces everything and says that it was closed, unless it is in the middle of an absorption.
     * The memory stays open: it is its owner's.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (!isAbsorbing()) {
            memory.force();
            write(RegionHeader.State.CLEAN, header.absorbedThrough(), header.absorbedThrough());
            memory.force();
        }
    }
}
