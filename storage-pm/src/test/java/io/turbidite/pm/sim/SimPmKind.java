package io.turbidite.pm.sim;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.pm.PmKind;
import io.turbidite.pm.index.PmIndex;
import io.turbidite.pm.index.PmRegion;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.tree.TreeCursor;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * The kind {@code pm} in simulated memory, which outlives stores and can be cut. <em>Thread-safe
 * where its stores are confined to one thread.</em>
 *
 * <p>Two rules are checked on the way, by an {@link AssertionError}: memory of mode dax is always
 * opened, whatever a power cut left of it, and {@link SimMemory} says what it finds.
 */
public final class SimPmKind implements IndexKind {
    private static final int BYTES_MAX = 16 << 20;

    /** One of so many images is what a cut leaves. */
    private static final int IMAGE_COUNT = 4;

    private final RegionMode mode;
    private final PmKind real = new PmKind();
    private final Map<Long, SimMemory> memories = new TreeMap<>();
    private final Map<Long, PmRegion> opened = new TreeMap<>();

    public SimPmKind(RegionMode mode) {
        this.mode = mode;
    }

    public RegionMode mode() {
        return mode;
    }

    /** What a power cut leaves at this moment; in mode file it may be the process that ended. */
    public SimPmKind cut(long seed) {
        SimPmKind left = new SimPmKind(mode);
        if (mode == RegionMode.VOLATILE) {
            return left;
        }
        SplittableRandom random = new SplittableRandom(seed);
        memories.forEach((id, memory) -> {
            List<byte[]> images = new ArrayList<>();
            if (mode == RegionMode.FILE && random.nextBoolean()) {
                images.add(memory.contents());
            } else {
                var _ = memory.eachImage(IMAGE_COUNT, random, images::add);
            }
            byte[] image = images.get(random.nextInt(images.size()));
            left.memories.put(id, SimMemory.of(mode, image, BYTES_MAX));
        });
        return left;
    }

    /**
     * Looks after all secondary keys of all open regions, where nobody reads what is old.
     *
     * @return how many entries are left that count
     */
    public long collectAll() {
        long count = 0;
        for (PmRegion region : opened.values()) {
            PmIndex index = region.index();
            index.begin(index.absorbedThrough(), index.absorbedThrough());
            TreeCursor keys = index.keys();
            keys.open(null, null, false);
            List<byte[]> all = new ArrayList<>();
            while (keys.next()) {
                all.add(keys.key().toByteArray());
            }
            all.forEach(key -> index.tree().collect(Slice.of(key)));
            index.commit(index.absorbedThrough());
            count += entryCount(index);
        }
        return count;
    }

    private static long entryCount(PmIndex index) {
        long count = 0;
        TreeCursor keys = index.keys();
        PostingCursor postings = index.tree().postings();
        keys.open(null, null, false);
        while (keys.next()) {
            postings.open(keys.pointer());
            while (postings.next()) {
                count += postings.isMarked() ? 0 : 1;
            }
        }
        return count;
    }

    @Override
    public String name() {
        return real.name();
    }

    @Override
    public Map<String, String> define(
            String use, Map<String, String> parameters, int primaryKeyBytesMax) {
        return real.define(use, parameters, primaryKeyBytesMax);
    }

    private static RegionSpec spec(RegionPlace place) {
        return new RegionSpec(
                place.storeId(),
                place.regionId(),
                RegionSpec.PAGE_BYTES_DEFAULT,
                BYTES_MAX,
                place.sessions());
    }

    @Override
    public IndexRegion create(RegionPlace place) {
        SimMemory memory = SimMemory.create(mode, BYTES_MAX);
        memories.put(place.regionId(), memory);
        return opened(place, PmRegion.create(memory, place, spec(place)));
    }

    private PmRegion opened(RegionPlace place, PmRegion region) {
        opened.put(place.regionId(), region);
        return region;
    }

    @Override
    public @Nullable IndexRegion open(RegionPlace place, long absorbedThrough) {
        return mode == RegionMode.VOLATILE
                ? null
                : opened(place, open(place, absorbedThrough, found(place)));
    }

    private PmRegion open(RegionPlace place, long absorbedThrough, SimMemory memory) {
        try {
            return PmRegion.open(memory, place, spec(place), absorbedThrough);
        } catch (StorageException refused) {
            if (mode == RegionMode.DAX) {
                throw new AssertionError("what a power cut leaves is opened", refused);
            }
            throw refused;
        }
    }

    private SimMemory found(RegionPlace place) {
        SimMemory memory = memories.get(place.regionId());
        if (memory == null) {
            throw CorruptionException.missing(place.file(), "the manifest names it");
        }
        return memory;
    }

    @Override
    public @Nullable IndexRegion openCopy(RegionPlace place, long absorbedThrough) {
        if (mode == RegionMode.VOLATILE) {
            return null;
        }
        SimMemory copy = SimMemory.of(mode, found(place).contents(), BYTES_MAX);
        return open(place, absorbedThrough, copy);
    }

    @Override
    public void drop(RegionPlace place) {
        memories.remove(place.regionId());
        opened.remove(place.regionId());
    }
}
