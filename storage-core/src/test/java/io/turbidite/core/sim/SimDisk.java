package io.turbidite.core.sim;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.DiskName;
import io.turbidite.core.file.FileStatus;
import io.turbidite.core.file.LockAnswer;
import io.turbidite.core.file.MappedFile;
import io.turbidite.core.format.Crc32c;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * A disk in memory that forgets what was not synced when its power is cut, and fails on request.
 *
 * <pre>{@code
 * SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
 * disk.onOperation(step -> images.add(disk.crashImage(step.index())));   // one image at each step
 * ... run the store on it ...
 * ... recover from each image, a SimDisk like any other, and compare with the oracle ...
 * }</pre>
 *
 * <p><em>Thread-safe by one lock.</em> Invariants: an image never changes what the disk it was
 * taken of does afterwards, nor the other way round; the same seed and calls give the same images
 * and the same {@link #traceHash}; an image costs memory by what is unsynced, not by the size of
 * the files.
 */
public final class SimDisk implements Disk {
    /** Larger files are refused: somebody believed a length field. */
    private static final long FILE_BYTES_MAX = 1L << 30;

    /** What transfers of direct files must be aligned to. */
    static final int DIRECT_BLOCK_BYTES = 4 << 10;

    /** What a disk without a stated capacity says it has left. */
    private static final long UNBOUNDED_BYTES = 1L << 40;

    /** Chunks of deleted files kept for {@link Profile#ADVERSARIAL}: 256 KiB. */
    private static final int STALE_COUNT_MAX = 64;

    /** What a processor stores at once, at least. */
    private static final int STORE_BYTES = 8;

    /** Operations that {@link #trace} tells. */
    private static final int TRACE_COUNT_MAX = 32;

    private final long seed;
    private final Profile profile;
    private final Object lock = new Object();
    private final SplittableRandom random;
    private final Crc32c crc = new Crc32c();
    private final Set<SimFile> handles = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<String> lockedNames = new TreeSet<>();
    private final Set<FileNode> lockedFiles = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<FileNode> lockedElsewhere =
            Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<SimFile> lockedHandles = Collections.newSetFromMap(new IdentityHashMap<>());
    private final List<FaultScript> faults = new ArrayList<>();
    private final List<byte[]> staleChunks = new ArrayList<>();
    private final ArrayDeque<Operation> trace = new ArrayDeque<>();
    private OperationHook hook = operation -> {};
    private long capacityBytes = Long.MAX_VALUE;
    private long usedBytes;
    private FileTree tree = new FileTree();
    private long stepCount;
    private long traceHash;
    private volatile boolean directRefused;
    private volatile boolean mappingRefused;

    /** An empty disk. */
    public SimDisk(long seed, Profile profile) {
        this.seed = seed;
        this.profile = profile;
        this.random = new SplittableRandom(seed);
        this.traceHash = seed;
    }

    // ---- the disk -------------------------------------------------------------------------------

    @Override
    public DiskFile create(String name) {
        beginOrFail(OperationKind.CREATE, DiskName.check(name));
        synchronized (lock) {
            return handle(name, tree.createFile(OperationKind.CREATE, name), true, false);
        }
    }

    @Override
    public @Nullable DiskFile createDirect(String name) {
        DiskName.check(name);
        if (directRefused) {
            return null;
        }
        beginOrFail(OperationKind.CREATE, name);
        synchronized (lock) {
            return handle(name, tree.createFile(OperationKind.CREATE, name), true, true);
        }
    }

    @Override
    public @Nullable DiskFile openDirect(String name) {
        DiskName.check(name);
        return directRefused ? null : open(name, false, true);
    }

    @Override
    public DiskFile open(String name) {
        return open(name, true, false);
    }

    @Override
    public DiskFile openReadOnly(String name) {
        return open(name, false, false);
    }

    @Override
    public boolean mapsFiles() {
        return !mappingRefused;
    }

    @Override
    public boolean exists(String name) {
        DiskName.check(name);
        synchronized (lock) {
            return tree.find(name) != null;
        }
    }

    /** Files were changed in 1970, unless {@link #touch} says otherwise. */
    @Override
    public FileStatus status(String name) {
        DiskName.checkDirectory(name);
        synchronized (lock) {
            return switch (tree.require(OperationKind.OPEN, name)) {
                case FileNode file ->
                    new FileStatus(
                            FileStatus.Kind.FILE,
                            file.seen().size(),
                            file.modifiedMicros(),
                            Long.toString(file.id()));
                case DirectoryNode directory -> new FileStatus(FileStatus.Kind.DIRECTORY, 0, 0, "");
            };
        }
    }

    @Override
    public List<String> list(String directory) {
        beginOrFail(OperationKind.LIST, DiskName.checkDirectory(directory));
        synchronized (lock) {
            return new ArrayList<>(
                    tree.directory(OperationKind.LIST, directory).seen().keySet());
        }
    }

    @Override
    public void createDirectories(String directory) {
        DiskName.checkDirectory(directory);
        for (int end = 0; end >= 0 && !directory.isEmpty(); ) {
            end = directory.indexOf('/', end + 1);
            String name = end < 0 ? directory : directory.substring(0, end);
            if (!exists(name)) {
                beginOrFail(OperationKind.CREATE_DIRECTORY, name);
                synchronized (lock) {
                    if (tree.find(name) == null) { // another thread may have been first
                        tree.createDirectory(name);
                    }
                }
            }
        }
        synchronized (lock) {
            var _ = tree.directory(OperationKind.CREATE_DIRECTORY, directory);
        }
    }

    @Override
    public void delete(String name) {
        beginOrFail(OperationKind.DELETE, DiskName.check(name));
        synchronized (lock) {
            unlinked(tree.delete(name));
        }
    }

    @Override
    public void rename(String from, String to) {
        DiskName.check(from);
        beginOrFail(OperationKind.RENAME, DiskName.check(to));
        synchronized (lock) {
            unlinked(tree.rename(from, to));
        }
    }

    @Override
    public boolean link(String name, Disk target, String targetName) {
        DiskName.check(name);
        if (!equals(target)) {
            return false;
        }
        beginOrFail(OperationKind.LINK, DiskName.check(targetName));
        synchronized (lock) {
            tree.link(name, targetName);
        }
        return true;
    }

    @Override
    public void syncDirectory(String directory) {
        Fault fault = begin(OperationKind.SYNC_DIRECTORY, DiskName.checkDirectory(directory), 0, 0);
        synchronized (lock) {
            DirectoryNode node = tree.directory(OperationKind.SYNC_DIRECTORY, directory);
            if (fault != null) {
                node.failSync(random);
                throw fault.exception(OperationKind.SYNC_DIRECTORY, directory);
            }
            node.sync();
            tree.commitJournal();
        }
    }

    @Override
    public long usableBytes() {
        synchronized (lock) {
            return capacityBytes == Long.MAX_VALUE
                    ? UNBOUNDED_BYTES
                    : Math.max(0, capacityBytes - usedBytes);
        }
    }

    @Override
    public LockAnswer tryLock(String name) {
        beginOrFail(OperationKind.LOCK, DiskName.check(name));
        if (!exists(name)) {
            beginOrFail(OperationKind.CREATE, name);
        }
        synchronized (lock) {
            if (tree.find(name) == null) {
                var _ = tree.createFile(OperationKind.LOCK, name);
            }
            FileNode node = tree.file(OperationKind.LOCK, name);
            if (lockedElsewhere.contains(node)) {
                return LockAnswer.heldElsewhere();
            }
            if (lockedFiles.contains(node) || !lockedNames.add(name)) {
                return LockAnswer.heldHere();
            }
            lockedFiles.add(node);
            return new LockAnswer.Granted(new SimLock(name, node));
        }
    }

    /** Another process takes the lock of a file that is there, until the power fails. */
    public void lockElsewhere(String name) {
        synchronized (lock) {
            lockedElsewhere.add(tree.file(OperationKind.LOCK, name));
        }
    }

    /** Held until closed, once. */
    private final class SimLock implements Lock {
        private final String name;
        private final FileNode node;
        private boolean released;

        SimLock(String name, FileNode node) {
            this.name = name;
            this.node = node;
        }

        @Override
        public boolean isInPlace() {
            synchronized (lock) {
                return node.equals(tree.find(name));
            }
        }

        @Override
        public void close() {
            synchronized (lock) {
                if (!released) {
                    released = true;
                    lockedNames.remove(name);
                    lockedFiles.remove(node);
                }
            }
        }
    }

    void lock(SimFile file) {
        synchronized (lock) {
            if (!lockedFiles.add(file.node())) {
                throw new InvalidRequestException(file.name() + " is locked already");
            }
            lockedHandles.add(file);
        }
    }

    @Override
    public String description() {
        return "simulated disk, seed %d, %s".formatted(seed, profile);
    }

    @Override
    public String toString() {
        return "SimDisk[seed %d, %s, %d steps]".formatted(seed, profile, stepCount());
    }

    // ---- power cuts -----------------------------------------------------------------------------

    /**
     * A disk with what a power cut at this moment may leave, by this disk's profile. The run goes
     * on undisturbed; the image has neither hook nor faults.
     *
     * @param imageSeed chooses among all that may be left
     */
    public SimDisk crashImage(long imageSeed) {
        return crashImage(imageSeed, profile);
    }

    /** As {@link #crashImage(long)}, by another profile: one run serves all three. */
    public SimDisk crashImage(long imageSeed, Profile cutProfile) {
        synchronized (lock) {
            long cutSeed = Seeds.mix(seed, imageSeed);
            PowerCut cut = new PowerCut(
                    cutSeed, cutProfile, tree.committedChange(), tree.nextChange(), staleChunks);
            return image(cutSeed, cut);
        }
    }

    /** A disk with all that processes see now, as after a clean unmount. */
    public SimDisk copy() {
        synchronized (lock) {
            return image(seed, Survivors.ALL);
        }
    }

    /** The process was killed, and what it had open with it: its locks are gone. */
    public void processDied() {
        synchronized (lock) {
            lockedNames.clear();
            lockedFiles.clear();
            lockedElsewhere.clear();
            lockedHandles.clear();
        }
    }

    /** Calls {@code newHook} before each durable step, instead of the one before. */
    public void onOperation(OperationHook newHook) {
        synchronized (lock) {
            hook = newHook;
        }
    }

    // ---- what goes wrong ------------------------------------------------------------------------

    /** Adds a script; with several, the first that hits decides, and all count. */
    @SuppressWarnings("CanIgnoreReturnValueSuggester") // it is the argument, for one-liners
    public FaultScript fault(FaultScript script) {
        synchronized (lock) {
            faults.add(script);
        }
        return script;
    }

    public void clearFaults() {
        synchronized (lock) {
            faults.clear();
        }
    }

    /** From now on no file is opened for direct I/O, as on a file system that has none. */
    public void refuseDirect() {
        synchronized (lock) {
            directRefused = true;
        }
    }

    /** From now on no file is mapped, as on a file system that copies on write. */
    public void refuseMapping() {
        mappingRefused = true;
    }

    /** Writes beyond this fail with NO_SPACE; a disk has no bound unless one is set. */
    public void capacity(long bytes) {
        synchronized (lock) {
            capacityBytes = bytes;
        }
    }

    /** Flips one bit (0 to 7) of the byte at {@code offset}, for readers and on the medium. */
    public void flipBit(String name, long offset, int bit) {
        synchronized (lock) {
            FileNode node = tree.file(OperationKind.WRITE, name);
            if (offset < 0 || offset >= node.seen().size() || bit < 0 || bit > 7) {
                throw new InvalidRequestException("bit %d at %d of %d bytes"
                        .formatted(bit, offset, node.seen().size()));
            }
            node.flipBit(offset, bit);
        }
    }

    /** Says when the file was changed last. */
    public void touch(String name, long modifiedMicros) {
        synchronized (lock) {
            tree.file(OperationKind.WRITE, name).touch(modifiedMicros);
        }
    }

    /** Puts a durable file with these bytes under the name; its directory must exist. */
    public void put(String name, byte[] bytes) {
        DiskName.check(name);
        synchronized (lock) {
            SectorMap content = new SectorMap();
            content.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            unlinked(tree.putDurable(name, content));
            usedBytes += tree.file(OperationKind.CREATE, name).allocatedBytes();
        }
    }

    // ---- what tests look at ---------------------------------------------------------------------

    /** All bytes of a file as processes see them. */
    public byte[] content(String name) {
        synchronized (lock) {
            SectorMap seen = tree.file(OperationKind.READ, name).seen();
            byte[] bytes = new byte[(int) seen.size()];
            var _ = seen.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            return bytes;
        }
    }

    /** The names of all files, with their directories, sorted. */
    public List<String> files() {
        synchronized (lock) {
            return tree.fileNames();
        }
    }

    /** Files that were opened and not closed; a test that ends with any has a leak. */
    public int openHandleCount() {
        return openHandles().size();
    }

    /** The names of the files that were opened and not closed, sorted. */
    public List<String> openHandles() {
        synchronized (lock) {
            return handles.stream().map(SimFile::name).sorted().toList();
        }
    }

    /** Durable steps begun so far. */
    public long stepCount() {
        synchronized (lock) {
            return stepCount;
        }
    }

    /** Bytes that files take, deleted ones that are open included. */
    public long usedBytes() {
        synchronized (lock) {
            return usedBytes;
        }
    }

    /** A number over all operations so far with their arguments and the bytes written. */
    public long traceHash() {
        synchronized (lock) {
            return traceHash;
        }
    }

    /** The last operations, for a failure's message. */
    public String trace() {
        synchronized (lock) {
            StringBuilder text = new StringBuilder(toString());
            for (Operation operation : trace) {
                text.append("\n  ").append(operation);
            }
            return text.toString();
        }
    }

    // ---- open files -----------------------------------------------------------------------------

    long size(SimFile file) {
        synchronized (lock) {
            return file.node().seen().size();
        }
    }

    int read(SimFile file, long offset, MemorySegment target, long targetOffset, int byteCount) {
        Fault fault = begin(OperationKind.READ, file.name(), offset, byteCount);
        if (fault != null) {
            throw fault.exception(OperationKind.READ, file.name());
        }
        synchronized (lock) {
            return file.node().seen().read(offset, target, targetOffset, byteCount);
        }
    }

    void write(SimFile file, long offset, MemorySegment source, long sourceOffset, int byteCount) {
        Fault fault = begin(OperationKind.WRITE, file.name(), offset, byteCount);
        if (offset + byteCount > FILE_BYTES_MAX) {
            throw FileTree.failure(Kind.IO, OperationKind.WRITE, file.name(), "File too large");
        }
        synchronized (lock) {
            FileNode node = file.node();
            int fitting = node.writableBytes(offset, byteCount, capacityBytes - usedBytes);
            int written = fault == null
                    ? fitting
                    : fault == Fault.SHORT_WRITE ? random.nextInt(fitting + 1) : 0;
            long before = node.allocatedBytes();
            node.write(offset, source, sourceOffset, written, random);
            usedBytes += node.allocatedBytes() - before;
            traceHash = Seeds.mix(traceHash, crc.compute(source, sourceOffset, byteCount));
            crc.forget();
            if (fault != null) {
                throw fault.exception(OperationKind.WRITE, file.name());
            }
            if (fitting < byteCount) {
                throw Fault.ENOSPC.exception(OperationKind.WRITE, file.name());
            }
        }
    }

    /**
     * A mapping of what was written before.
     *
     * @return null once it {@linkplain #refuseMapping refuses} that
     */
    @Nullable
    MappedFile map(SimFile file, long byteCount) {
        if (mappingRefused) {
            return null;
        }
        synchronized (lock) {
            FileNode node = file.node();
            if (node.writableBytes(0, Math.toIntExact(byteCount), 0) < byteCount) {
                throw new AssertionError(
                        "%s is mapped where it was never written: a store could find no space"
                                .formatted(file.name()));
            }
        }
        return new SimMapping(file, byteCount);
    }

    /** Stores come in pieces, in any order; the process may be killed between any two. */
    private final class SimMapping implements MappedFile {
        private final SimFile file;
        private final long byteCountMax;
        private boolean closed;

        SimMapping(SimFile file, long byteCountMax) {
            this.file = file;
            this.byteCountMax = byteCountMax;
        }

        @Override
        public void write(long offset, MemorySegment source, long sourceOffset, int byteCount) {
            if (closed || offset < 0 || offset + byteCount > byteCountMax) {
                throw new AssertionError("a store of %d bytes at %d of %d%s"
                        .formatted(byteCount, offset, byteCountMax, closed ? ", unmapped" : ""));
            }
            int cut;
            boolean endFirst;
            synchronized (lock) {
                cut = random.nextInt(byteCount / STORE_BYTES + 1) * STORE_BYTES;
                endFirst = random.nextBoolean();
            }
            for (int i = 0; i < 2; i++) {
                boolean end = (i == 0) == endFirst;
                int from = end ? cut : 0;
                int count = end ? byteCount - cut : cut;
                if (count > 0) {
                    SimDisk.this.write(file, offset + from, source, sourceOffset + from, count);
                }
            }
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    void truncate(SimFile file, long size) {
        Fault fault = begin(OperationKind.TRUNCATE, file.name(), size, 0);
        if (fault != null) {
            throw fault.exception(OperationKind.TRUNCATE, file.name());
        }
        if (size > FILE_BYTES_MAX) {
            throw FileTree.failure(Kind.IO, OperationKind.TRUNCATE, file.name(), "File too large");
        }
        synchronized (lock) {
            long before = file.node().allocatedBytes();
            file.node().truncate(size);
            usedBytes += file.node().allocatedBytes() - before;
        }
    }

    void sync(SimFile file) {
        Fault fault = begin(OperationKind.SYNC, file.name(), 0, 0);
        synchronized (lock) {
            if (fault != null) {
                file.node().failSync(random);
                throw fault.exception(OperationKind.SYNC, file.name());
            }
            file.node().sync();
            tree.commitJournal();
        }
    }

    void closed(SimFile file) {
        synchronized (lock) {
            if (lockedHandles.remove(file)) {
                lockedFiles.remove(file.node());
            }
            if (handles.remove(file)) {
                file.node().closed();
                releaseIfUnused(file.node());
            }
        }
    }

    // ---- inside ---------------------------------------------------------------------------------

    private DiskFile open(String name, boolean writable, boolean direct) {
        beginOrFail(OperationKind.OPEN, DiskName.check(name));
        synchronized (lock) {
            FileNode node = tree.file(OperationKind.OPEN, name);
            if (lockedFiles.contains(node)) {
                throw new InvalidRequestException(
                        name + " is locked; closing a second opening would give the lock up");
            }
            return handle(name, node, writable, direct);
        }
    }

    private void beginOrFail(OperationKind kind, String name) {
        Fault fault = begin(kind, name, 0, 0);
        if (fault != null) {
            throw fault.exception(kind, name);
        }
    }

    private @Nullable Fault begin(OperationKind kind, String name, long offset, int byteCount) {
        Operation operation;
        OperationHook current;
        synchronized (lock) {
            operation = new Operation(stepCount, kind, name, offset, byteCount);
            current = hook;
            if (kind.isChanging()) {
                stepCount++;
            }
        }
        if (kind.isChanging()) {
            current.before(operation);
        }
        synchronized (lock) {
            traceHash = Seeds.mix(traceHash, Seeds.hash(kind.name()));
            traceHash = Seeds.mix(traceHash ^ Seeds.hash(name), offset * 31 + byteCount);
            if (trace.size() == TRACE_COUNT_MAX) {
                trace.remove();
            }
            trace.add(operation);
            Fault fault = null;
            for (FaultScript script : faults) {
                if (script.hits(kind, name) && fault == null) {
                    fault = script.fault();
                }
            }
            return fault;
        }
    }

    private SimFile handle(String name, FileNode node, boolean writable, boolean direct) {
        int blockBytes = direct ? DIRECT_BLOCK_BYTES : 1;
        SimFile file = new SimFile(this, name, node, writable, blockBytes);
        handles.add(file);
        SimFile.OPEN.add(file);
        node.opened();
        return file;
    }

    private void unlinked(@Nullable Node node) {
        if (node instanceof FileNode file) {
            file.unlinked();
            releaseIfUnused(file);
        }
    }

    private void releaseIfUnused(FileNode node) {
        if (node.isInUse()) {
            return;
        }
        usedBytes -= node.allocatedBytes();
        int chunkCount = SectorMap.chunkCount(node.seen().size());
        for (int i = 0; i < Math.min(chunkCount, STALE_COUNT_MAX / 8); i++) {
            byte[] chunk = node.seen().chunk(random.nextInt(chunkCount));
            if (staleChunks.size() < STALE_COUNT_MAX) {
                staleChunks.add(chunk);
            } else {
                staleChunks.set(random.nextInt(STALE_COUNT_MAX), chunk);
            }
        }
    }

    private SimDisk image(long imageSeed, Survivors survivors) {
        SimDisk image = new SimDisk(imageSeed, profile);
        image.capacityBytes = capacityBytes;
        image.directRefused = directRefused;
        image.staleChunks.addAll(staleChunks);
        image.tree = tree.image(survivors);
        for (String name : image.tree.fileNames()) {
            image.usedBytes += image.tree.file(OperationKind.OPEN, name).allocatedBytes();
        }
        return image;
    }
}
