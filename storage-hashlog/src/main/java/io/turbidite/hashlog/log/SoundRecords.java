package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * Reads what is sound of a damaged log's pages, oldest first, and says what is not. It changes no
 * file.
 *
 * <p><em>Confined to one thread.</em> A record counts if every block that it lies in has the
 * checksum that its page has of it:
 *
 * <ol>
 *   <li>a block is believed if its checksum agrees, even where the page's header is damaged
 *       elsewhere: a chance hit of 32 bits is rarer than damage to a header;
 *   <li>records are stepped over from the page's first one. A damaged block within a record costs
 *       that record alone, since its header word says where the next one begins;
 *   <li>header words in a damaged block are followed if they lead to the very end of the page and
 *       no other way leads there ({@link PageFraming}): then the damage is to payloads, and costs
 *       the records that touch the block. Else it costs the rest of the page;
 *   <li>the newest page has checksums of its blocks too ({@link OpenPage}). One of an older release
 *       has none: of the two tail marks, the longer one whose checksum agrees says how much of it
 *       is sound.
 * </ol>
 */
public final class SoundRecords {
    private static final String SUFFIX = ".pages";
    private static final String TAIL = "TAIL";

    private final Disk disk;
    private final String directory;
    private final long logId;
    private final LogShape shape;
    private final List<TailMark> marks = new ArrayList<>();
    private final long begin;
    private final int marksLost;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment page;
    private final BitSet sound = new BitSet();
    private final PageFraming framing = new PageFraming();
    private final Set<String> unread = new TreeSet<>();

    /**
     * @param logId of the log: pages of another one are not its own
     * @param shape of its pages and segments
     */
    public SoundRecords(Disk disk, String directory, long logId, LogShape shape) {
        this.disk = disk;
        this.directory = directory;
        this.logId = logId;
        this.shape = shape;
        this.page = MemorySegment.ofArray(new byte[shape.pageBytes()]);
        long begun = 0;
        MemorySegment slot = MemorySegment.ofArray(new byte[LogShape.BLOCK_BYTES]);
        String name = directory + "/" + TAIL;
        if (disk.exists(name)) {
            try (DiskFile file = opened(name)) {
                for (int i = 0; file != null && i < 2; i++) {
                    if (isThere(file, TailMark.slotOffset(i), slot)) {
                        TailMark mark = TailMark.readEither(slot, logId, shape);
                        if (mark != null) {
                            marks.add(mark);
                        }
                    }
                    if (isThere(file, BeginMark.slotOffset(i), slot.asSlice(0, BeginMark.BYTES))) {
                        BeginMark mark = BeginMark.read(slot, logId);
                        begun = mark == null ? begun : Math.max(begun, mark.begin());
                    }
                }
            }
        }
        this.begin = begun;
        this.marksLost = 2 - marks.size();
    }

    /**
     * What was lost. <em>Immutable.</em>
     *
     * @param from address, inclusive
     * @param to exclusive; equal to {@code from} if nothing was lost but what vouches for it
     * @param file that is damaged
     */
    public record Loss(long from, long to, String file, String why) {
        @Override
        public String toString() {
            return "%s: addresses %d to %d, %s".formatted(file, from, to, why);
        }
    }

    /** Takes what was read. */
    public interface Visitor {
        /** A record, mark or deletion; its bytes are valid until this returns. */
        void record(long address, long header, MemorySegment segment, long offset);

        /** Takes what could not be read. */
        void lost(Loss loss);
    }

    /**
     * Of a log whose registry is lost: id and shape, by a segment that can be read.
     * <em>Immutable.</em>
     */
    public record Identity(long logId, LogShape shape) {}

    /** What the first segment with a sound header says of the log, or null. */
    public static @Nullable Identity identify(Disk disk, String directory) {
        for (String name : disk.list(directory)) {
            if (name.matches("[0-9a-f]{8}\\" + SUFFIX)) {
                try (DiskFile file = disk.openReadOnly(directory + "/" + name)) {
                    MemorySegment head = MemorySegment.ofArray(new byte[SegmentHeader.BYTES]);
                    if (file.read(0, head, 0, SegmentHeader.BYTES) == SegmentHeader.BYTES) {
                        FileHeader envelope = FileHeader.read(file.name(), head, 0);
                        LogShape shape = new LogShape(
                                head.get(Bytes.I32, SegmentHeader.PAGE_BYTES_OFFSET),
                                LogShape.defaults().ringPageCount(),
                                head.get(Bytes.I32, SegmentHeader.PAGE_COUNT_OFFSET));
                        long segment = Long.parseLong(name.substring(0, 8), 16);
                        SegmentHeader.of(envelope.storeId(), shape, segment).check(file);
                        return new Identity(envelope.storeId(), shape);
                    }
                } catch (CorruptionException | InvalidRequestException damaged) {
                    assert damaged.getMessage() != null; // another segment may be sound
                } catch (StorageIoException e) {
                    requireOfFile(e);
                }
            }
        }
        return null;
    }

    /** The smallest address that the log has, as far as a mark says so. */
    public long begin() {
        return begin;
    }

    /** How many of the two tail marks can't be read. */
    public int marksLost() {
        return marksLost;
    }

    /**
     * Shows everything that is sound, oldest first, and what is not; false if {@code stopped}
     * before the end.
     */
    public boolean visit(Visitor visitor, BooleanSupplier stopped) {
        List<Long> segments = segments();
        // a log that was never truncated begins at page 0
        long wantedPage = shape.pageOf(begin);
        if (marks.isEmpty() && !segments.isEmpty()) {
            wantedPage = Math.max(wantedPage, firstPageOf(segments.getFirst()));
        }
        long lastMarked = marks.stream().mapToLong(m -> m.address(shape)).max().orElse(0);
        for (long segment : segments) {
            long first = firstPageOf(segment);
            if (first + shape.segmentPageCount() <= wantedPage) {
                continue; // below the log's begin: it should be gone
            }
            if (first > wantedPage) {
                String name = segmentName(shape.segmentOf(wantedPage));
                visitor.lost(loss(wantedPage, first, name, "the file is missing"));
            }
            boolean isLast = segment == segments.getLast();
            long reached = Math.max(first, wantedPage);
            String name = segmentName(segment);
            try (DiskFile file = opened(name)) {
                if (file != null) {
                    checkHeader(file, segment, visitor);
                }
                long end = first + (file == null ? 0 : pageCountOf(file));
                for (; file != null && reached < end; reached++) {
                    if (stopped.getAsBoolean()) {
                        return false;
                    }
                    visitPage(file, reached, isLast && reached == end - 1, visitor);
                }
                wantedPage = first + shape.segmentPageCount();
                boolean isKnown = !isLast || (file == null && marks.isEmpty());
                long lost = isKnown ? shape.startOf(wantedPage) : lastMarked;
                if (shape.firstRecordOf(reached) < lost && reached < wantedPage) {
                    visitor.lost(new Loss(
                            shape.startOf(reached),
                            lost,
                            name,
                            file == null
                                    ? "the file could not be read"
                                    : "the file ends before it"));
                }
            }
        }
        return true;
    }

    /** The file, or null if it could not be opened: it is left out. */
    private @Nullable DiskFile opened(String name) {
        try {
            return disk.openReadOnly(name);
        } catch (StorageIoException e) {
            leaveOut(name, e);
            return null;
        }
    }

    private long pageCountOf(DiskFile file) {
        try {
            return Math.max(0, Math.ceilDiv(file.size() - SegmentHeader.BYTES, shape.pageBytes()));
        } catch (StorageIoException e) {
            leaveOut(file.name(), e);
            return 0;
        }
    }

    /** Notes that some of the file could not be read. */
    private void leaveOut(String name, StorageIoException e) {
        requireOfFile(e);
        unread.add(name);
    }

    /**
     * Requires that what went wrong is the file's, so that others may be read.
     *
     * @throws StorageIoException the same, if it is the process's
     */
    public static void requireOfFile(StorageIoException e) {
        switch (e.kind()) {
            case IO, ACCESS_DENIED, NOT_FOUND -> {}
            default -> throw e;
        }
    }

    /** The names of files that the disk gave an error for. */
    public List<String> unreadFiles() {
        return List.copyOf(unread);
    }

    private Loss loss(long fromPage, long toPage, String file, String why) {
        return new Loss(shape.startOf(fromPage), shape.startOf(toPage), file, why);
    }

    private void checkHeader(DiskFile file, long segment, Visitor visitor) {
        try {
            SegmentHeader.of(logId, shape, segment).check(file);
        } catch (CorruptionException | FormatVersionException e) {
            long start = shape.startOf(firstPageOf(segment));
            visitor.lost(new Loss(
                    start,
                    start,
                    file.name(),
                    "its header is damaged, which costs no record (%s)".formatted(e.getMessage())));
        } catch (StorageIoException e) {
            leaveOut(file.name(), e);
        }
    }

    private void visitPage(DiskFile file, long p, boolean isNewest, Visitor visitor) {
        page.fill((byte) 0);
        long at = SegmentHeader.BYTES + p % shape.segmentPageCount() * (long) shape.pageBytes();
        try {
            int byteCount = file.read(at, page, 0, shape.pageBytes());
            assert byteCount >= 0 : byteCount;
        } catch (StorageIoException e) {
            leaveOut(file.name(), e);
            visitor.lost(loss(p, p + 1, file.name(), String.valueOf(e.getMessage())));
            return;
        }
        boolean isHeaderSound = isHeaderSound(file, at, p);
        // the newest page begins with what its frame held before: the header of an older page
        boolean isOlder = !isHeaderSound
                && isHeaderSound(file, at, page.get(Bytes.I64, PageHeader.PAGE_OFFSET));
        OpenPage open = isHeaderSound ? null : OpenPage.read(page, shape, logId, p, crc);
        int end = isHeaderSound ? 0 : soundByMarks(p);
        int claimed = isHeaderSound ? 0 : claimed(p, isNewest);
        if (open == null
                && !isOlder
                && (findSound() || isHeaderSound)
                && !isMarkedAll(end, claimed)) {
            if (!isHeaderSound) {
                visitor.lost(new Loss(
                        shape.startOf(p),
                        shape.startOf(p),
                        file.name(),
                        "page %d has a damaged header; its blocks are told by their own checksums"
                                .formatted(p)));
            }
            walk(file, p, shape.pageBytes(), visitor);
            return;
        }
        if (open != null && open.usedBytes() > end && isBelieved(open, end, claimed)) {
            end = open.usedBytes();
            for (int block = 0; block < shape.blockCount(); block++) {
                sound.set(block, open.isSound(page, block, shape.pageHeaderBytes(), crc));
            }
        } else {
            sound.set(0, shape.blockCount());
        }
        walk(file, p, end, visitor);
        if (claimed > end) {
            visitor.lost(new Loss(
                    Math.max(begin, shape.startOf(p) + end),
                    shape.startOf(p) + claimed,
                    file.name(),
                    isNewest
                            ? "the newest page, which no sound mark vouches for up to there"
                            : "the page is damaged"));
        }
    }

    /**
     * Whether marks vouch for all that was written of a page: its header may be damaged, or an open
     * page's.
     */
    private boolean isMarkedAll(int marked, int claimed) {
        int behind = Math.ceilDiv(marked, LogShape.BLOCK_BYTES);
        return marked > shape.pageHeaderBytes()
                && marked == claimed
                && sound.nextSetBit(behind) < 0;
    }

    /**
     * Whether the page says how far it goes. If it is not whole, and a mark vouches for all that
     * marks claim, a power cut tore what came behind that mark.
     */
    private boolean isBelieved(OpenPage open, int marked, int claimed) {
        return marked <= shape.pageHeaderBytes()
                || marked < claimed
                || open.isWhole(page, shape.pageHeaderBytes(), crc);
    }

    private boolean isHeaderSound(DiskFile file, long at, long p) {
        try {
            return PageHeader.read(file.name(), at, page, shape, p).logId() == logId;
        } catch (CorruptionException damaged) {
            return false;
        }
    }

    /**
     * Finds the blocks whose checksums agree with the page's; whether there are any that have
     * content.
     */
    private boolean findSound() {
        sound.clear();
        boolean any = false;
        int headerBytes = shape.pageHeaderBytes();
        for (int block = 0; block < shape.blockCount(); block++) {
            try {
                PageHeader.checkBlock(
                        "",
                        0,
                        page,
                        block,
                        page,
                        (long) block * LogShape.BLOCK_BYTES,
                        headerBytes,
                        crc);
                sound.set(block);
                any |= (block + 1) * LogShape.BLOCK_BYTES > headerBytes;
            } catch (CorruptionException damaged) {
                sound.clear(block);
            }
        }
        return any;
    }

    /** How far the newest page is sound, by the marks. */
    private int soundByMarks(long p) {
        int headerBytes = shape.pageHeaderBytes();
        int end = headerBytes;
        for (TailMark mark : marks) {
            if (mark.page() == p
                    && mark.usedBytes() > end
                    && crc.compute(page, headerBytes, mark.usedBytes() - (long) headerBytes)
                            == mark.pageChecksum()) {
                end = mark.usedBytes();
            }
        }
        return end;
    }

    /** How much of a page that is not sealed was durable once. */
    private int claimed(long p, boolean isNewest) {
        int claimed = 0;
        boolean isMarked = false;
        for (TailMark mark : marks) {
            isMarked |= mark.page() <= p;
            if (mark.page() == p) {
                claimed = Math.max(claimed, mark.usedBytes());
            } else if (mark.page() > p) {
                claimed = shape.pageBytes(); // pages below a marked one were sealed
            }
        }
        if (!isNewest) {
            return shape.pageBytes();
        }
        if (isMarked || claimed > 0) {
            return claimed;
        }
        int written = shape.pageBytes();
        while (written > 0 && page.get(Bytes.U8, written - 1L) == 0) {
            written--;
        }
        return RecordHeader.align(written);
    }

    private void walk(DiskFile file, long p, int end, Visitor visitor) {
        long start = shape.startOf(p);
        int at = shape.pageHeaderBytes();
        if (begin > start + at) {
            at = (int) Math.min(end, begin - start);
        }
        while (at < end) {
            if (!sound.get(at / LogShape.BLOCK_BYTES)) {
                int behind = framing.behindDamage(page, sound, at, end);
                visitor.lost(new Loss(
                        start + at,
                        start + (behind < 0 ? end : behind),
                        file.name(),
                        behind < 0
                                ? "a block is damaged, and where the next record of the page begins is not known"
                                : "a block is damaged"));
                if (behind < 0) {
                    return;
                }
                at = behind;
                continue;
            }
            long word = page.get(Bytes.I64, at);
            long byteCount = RecordHeader.recordBytes(word);
            if (!RecordHeader.isVisible(word) || byteCount > end - at) {
                visitor.lost(new Loss(
                        start + at,
                        start + end,
                        file.name(),
                        "no record begins there: 0x%016x".formatted(word)));
                return;
            }
            int next = at + (int) byteCount;
            int lastBlock = (next - 1) / LogShape.BLOCK_BYTES;
            if (RecordHeader.kind(word) != RecordHeader.FILLER) {
                if (sound.nextClearBit(at / LogShape.BLOCK_BYTES) > lastBlock) {
                    visitor.record(start + at, word, page, at);
                } else {
                    visitor.lost(new Loss(
                            start + at, start + next, file.name(), "a block of it is damaged"));
                }
            }
            at = next;
        }
    }

    private List<Long> segments() {
        List<Long> numbers = new ArrayList<>();
        for (String name : disk.list(directory)) {
            if (name.matches("[0-9a-f]{8}\\" + SUFFIX)) {
                numbers.add(Long.parseLong(name.substring(0, 8), 16));
            }
        }
        return numbers.stream().sorted().toList();
    }

    private long firstPageOf(long segment) {
        return segment * shape.segmentPageCount();
    }

    private String segmentName(long segment) {
        return "%s/%08x%s".formatted(directory, segment, SUFFIX);
    }

    private boolean isThere(DiskFile file, long at, MemorySegment into) {
        try {
            return file.read(at, into, 0, (int) into.byteSize()) == into.byteSize();
        } catch (StorageIoException e) {
            leaveOut(file.name(), e); // a place that can't be read says nothing
            return false;
        }
    }
}
