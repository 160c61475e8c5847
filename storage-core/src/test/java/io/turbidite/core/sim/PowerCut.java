package io.turbidite.core.sim;

import io.turbidite.core.sim.DirectoryNode.Change;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Decides what one power cut leaves: which unsynced names and which unsynced content. A function of
 * the seed and of numbers that the disk gave out, so that the order in which it is asked does not
 * matter. <em>Confined to the disk's lock.</em>
 *
 * <p>Each image leans one way, because independent coins of one half never try the ends: nothing,
 * almost nothing, half, almost everything, everything.
 */
final class PowerCut implements Survivors {
    private static final double[] RATIOS = {0, 0.1, 0.5, 0.9, 1};

    /**
     * About so many pages of a file are torn in one image; the others come whole and are shared.
     */
    private static final int TORN_PAGES_MAX = 64;

    /** Shown by recycled blocks while no file was deleted yet. */
    private static final byte[] NOISE = noise();

    private static final int TAG_CHANGE = 1;
    private static final int TAG_FILE = 2;
    private static final int TAG_IMAGE = 3;

    private final long seed;
    private final Profile profile;
    private final double ratio;

    /** Changes of names from this sequence on did not make it (ext4's journal). */
    private final long journalEnd;

    private final List<byte[]> staleChunks;

    /**
     * @param committedSequence changes below it survive under {@link Profile#EXT4_LIKE}
     * @param nextSequence no change has this sequence yet
     * @param staleChunks what deleted files held
     */
    PowerCut(
            long seed,
            Profile profile,
            long committedSequence,
            long nextSequence,
            List<byte[]> staleChunks) {
        this.seed = seed;
        this.profile = profile;
        this.staleChunks = staleChunks;
        SplittableRandom random = random(TAG_IMAGE, 0);
        this.ratio = RATIOS[random.nextInt(RATIOS.length)];
        this.journalEnd = random.nextLong(committedSequence, nextSequence + 1);
    }

    @Override
    public Map<String, Node> namesOf(DirectoryNode directory) {
        Map<String, Node> names = new TreeMap<>(directory.durable());
        for (Change change : directory.pending()) {
            if (survives(change)) {
                change.apply(names);
            }
        }
        return names;
    }

    private boolean survives(Change change) {
        if (change.isDurable()) {
            return true;
        }
        Change needed = change.needed();
        if (change.isLost() || (needed != null && !survives(needed))) {
            return false;
        }
        return switch (profile) {
            case STRICT -> false;
            case EXT4_LIKE -> change.sequence() < journalEnd;
            case ADVERSARIAL -> random(TAG_CHANGE, change.sequence()).nextDouble() < ratio;
        };
    }

    @Override
    public SectorMap contentOf(FileNode file) {
        SectorMap content = file.durable().share();
        if (profile == Profile.STRICT || file.isSynced()) {
            return content;
        }
        SplittableRandom random = random(TAG_FILE, file.id());
        // One file may fare otherwise than the rest of the image.
        double keep = random.nextBoolean() ? ratio : RATIOS[random.nextInt(RATIOS.length)];
        if (file.wasCut() && random.nextDouble() < keep) {
            content.resize(file.cutSize());
        }
        if (profile == Profile.EXT4_LIKE) {
            keepPages(file, content, keep, random);
        } else {
            keepSectors(file, content, keep, random);
        }
        return content;
    }

    /** Whole pages; where the file has grown, all pages up to the new size. */
    private static void keepPages(
            FileNode file, SectorMap content, double keep, SplittableRandom random) {
        long oldSize = content.size();
        int endPage = SectorMap.chunkCount(file.seen().size());
        int grownPage = endPage;
        if (file.seen().size() > oldSize) {
            grownPage = (int) (oldSize / SectorMap.CHUNK_BYTES);
            int kept = growth(endPage - grownPage, keep, random);
            long reached = (long) (grownPage + kept) * SectorMap.CHUNK_BYTES;
            content.resize(Math.max(oldSize, Math.min(file.seen().size(), reached)));
            copyDirty(file, content, grownPage, grownPage + kept);
        }
        for (int page = 0; page < grownPage; page++) {
            int sector = file.dirty().nextSetBit(page * SectorMap.CHUNK_SECTORS);
            if (sector < 0) {
                return;
            }
            page = sector / SectorMap.CHUNK_SECTORS;
            if (page < grownPage && random.nextDouble() < keep) {
                copyDirty(file, content, page, page + 1);
            }
        }
    }

    private static int growth(int pages, double keep, SplittableRandom random) {
        if (keep == 0 || keep == 1) {
            return (int) (pages * keep);
        }
        return random.nextInt(pages + 1);
    }

    private static void copyDirty(FileNode file, SectorMap content, int fromPage, int toPage) {
        int end = toPage * SectorMap.CHUNK_SECTORS;
        BitSet dirty = file.dirty();
        for (int i = dirty.nextSetBit(fromPage * SectorMap.CHUNK_SECTORS);
                i >= 0 && i < end;
                i = dirty.nextSetBit(i + 1)) {
            int page = i / SectorMap.CHUNK_SECTORS;
            if (file.differsOnlyByDirty(page)) {
                content.adoptChunk(file.seen(), page);
                i = (page + 1) * SectorMap.CHUNK_SECTORS - 1;
            } else {
                content.copySector(file.seen(), i);
            }
        }
    }

    /** Any subset, torn at sectors or at pages, with any size between the old and the new one. */
    private void keepSectors(
            FileNode file, SectorMap content, double keep, SplittableRandom random) {
        boolean tearsPages = random.nextBoolean();
        boolean stale = random.nextInt(4) == 0;
        long staleSeed = random.nextLong();
        long oldSize = content.size();
        long newSize = Math.max(oldSize, file.seen().size());
        content.resize(newSize);
        int pageCount = SectorMap.chunkCount(newSize);
        BitSet dirty = file.dirty();
        for (int i = dirty.nextSetBit(0); i >= 0; i = dirty.nextSetBit(i + 1)) {
            int page = i / SectorMap.CHUNK_SECTORS;
            int end = (page + 1) * SectorMap.CHUNK_SECTORS;
            boolean torn = tearsPages && random.nextInt(pageCount) < TORN_PAGES_MAX;
            boolean kept = random.nextDouble() < keep;
            boolean stalePage = stale && (long) page * SectorMap.CHUNK_BYTES >= oldSize;
            if (!torn && kept && isWhole(file, page, keep)) {
                content.adoptChunk(file.seen(), page);
            } else if (!torn && stalePage && !kept) {
                content.putChunk(page, staleChunk(staleSeed, page));
            } else if (torn || kept) {
                for (; i >= 0 && i < end; i = dirty.nextSetBit(i + 1)) {
                    if (torn ? random.nextDouble() < keep : kept) {
                        keepSector(file, content, i, keep, random);
                    } else if (stale && (long) i * SectorMap.SECTOR_BYTES >= oldSize) {
                        int inChunk = i % SectorMap.CHUNK_SECTORS * SectorMap.SECTOR_BYTES;
                        content.putSector(i, staleChunk(staleSeed, page), inChunk);
                    }
                }
            }
            i = end - 1;
        }
        content.resize(sizeBetween(oldSize, newSize, keep, random));
    }

    private static void keepSector(
            FileNode file, SectorMap content, int sector, double keep, SplittableRandom random) {
        byte[] older = file.older().get(sector);
        if (older != null && keep < 1 && random.nextBoolean()) {
            content.putSector(sector, older, 0);
        } else {
            content.copySector(file.seen(), sector);
        }
    }

    /** Whether a page that survives does so with its latest bytes. */
    private static boolean isWhole(FileNode file, int page, double keep) {
        int first = page * SectorMap.CHUNK_SECTORS;
        boolean hasOlder =
                !file.older().subMap(first, first + SectorMap.CHUNK_SECTORS).isEmpty();
        return file.differsOnlyByDirty(page) && (keep == 1 || !hasOlder);
    }

    private static long sizeBetween(
            long oldSize, long newSize, double keep, SplittableRandom random) {
        if (oldSize == newSize || keep == 0) {
            return oldSize;
        }
        if (keep == 1) {
            return newSize;
        }
        long any = random.nextLong(oldSize, newSize + 1);
        return switch (random.nextInt(4)) {
            case 0 -> oldSize;
            case 1 -> newSize;
            case 2 -> Math.max(oldSize, any - any % SectorMap.SECTOR_BYTES);
            default -> any;
        };
    }

    /** Disk blocks are recycled whole: a page shows one old page, each sector in its place. */
    private byte[] staleChunk(long staleSeed, int page) {
        SplittableRandom random = new SplittableRandom(Seeds.mix(staleSeed, page));
        return staleChunks.isEmpty() ? NOISE : staleChunks.get(random.nextInt(staleChunks.size()));
    }

    private static byte[] noise() {
        byte[] bytes = new byte[SectorMap.CHUNK_BYTES];
        new SplittableRandom(1).nextBytes(bytes);
        return bytes;
    }

    private SplittableRandom random(int tag, long number) {
        return new SplittableRandom(Seeds.mix(Seeds.mix(seed, tag), number));
    }

    @Override
    public String toString() {
        return "PowerCut[%s, seed %d, ratio %.1f]".formatted(profile, seed, ratio);
    }
}
