package io.turbidite.pm;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.pm.index.PmRegion;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMode;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The kind of index {@code pm}: entries in byte-addressable memory, or in a mapped file, newest
 * first (PERS24). {@link PmParameters} says what a definition may tell it.
 *
 * <pre>{@code
 * StoreOptions options = StoreOptions.defaults().withIndexKinds(new PmKind());
 * }</pre>
 *
 * <p><em>Thread-safe.</em>
 */
public final class PmKind implements IndexKind {
    /** The name in definitions. */
    public static final String NAME = "pm";

    /** The parameter that says what regions survive. */
    public static final String MODE = PmParameters.MODE;

    /** The parameter that says where regions lie, if not in the store. */
    public static final String PATH = PmParameters.PATH;

    /** The names of what a definition may tell it. */
    public static final List<String> PARAMETERS =
            List.of(MODE, PATH, PmParameters.BYTES, PmParameters.PAGE_BYTES);

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Map<String, String> define(
            String use, Map<String, String> parameters, int primaryKeyBytesMax) {
        PmParameters checked = PmParameters.of(use, parameters, primaryKeyBytesMax);
        if (!checked.path().isEmpty() && checked.mode() != PmParameters.Mode.VOLATILE) {
            var _ = mode(use, checked, PmFiles.directory(use, checked), "");
        }
        return checked.toMap();
    }

    /**
     * Checks what {@link #define} can't know: whether a store can have such an index.
     *
     * @param use who it is for, in messages
     * @param defined as {@link #define} gave it
     * @param store the store's directory, which is there
     * @throws InvalidRequestException if the machine, or the store's place, has not the mode,
     *     naming what it has; or if the path lies in the store
     */
    public static void checkStore(String use, Map<String, String> defined, Path store) {
        PmParameters parameters = PmParameters.kept(defined);
        RealDisk disk = RealDisk.open(store);
        requireOutside(use, parameters, disk);
        if (parameters.path().isEmpty()) {
            var _ = mode(use, parameters, disk, "");
        }
    }

    /** What lies in a store is its own: it may tidy up there. */
    private static void requireOutside(String use, PmParameters parameters, Disk store) {
        if (!parameters.path().isEmpty()
                && store instanceof RealDisk real
                && real.encloses(Path.of(parameters.path()))) {
            throw new InvalidRequestException(
                    "%s: path: %s lies in the store; leave path out to have the regions there"
                            .formatted(use, parameters.path()));
        }
    }

    /**
     * {@inheritDoc}
     *
     * @throws InvalidRequestException if the machine, or the place, has not the mode, naming what
     *     it has
     */
    @Override
    public IndexRegion create(RegionPlace place) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        requireOutside(place.name(), parameters, place.disk());
        Disk disk = PmFiles.disk(place, parameters);
        String file = PmFiles.file(place, parameters);
        String directory = parameters.path().isEmpty() ? place.directory() : "";
        RegionMode mode = mode(place.name(), parameters, disk, directory);
        if (mode == RegionMode.VOLATILE) {
            return PmRegion.create(
                    SegmentMemory.inMemory(place.name(), parameters.extentBytes()),
                    place,
                    parameters.toSpec(place));
        }
        drop(place); // what has the number is of a build of this store's that was cut
        try {
            SegmentMemory memory = SegmentMemory.create(disk, file, parameters.extentBytes(), mode);
            if (memory == null) {
                throw refused(place.name(), parameters, disk, RegionMode.VOLATILE);
            }
            try (Undo undo = Undo.of(() -> drop(place))) {
                return undo.keep(PmRegion.create(memory, place, parameters.toSpec(place)));
            }
        } catch (StorageIoException failed) {
            // the file's name says nothing of the directory, which is not the store's
            throw parameters.path().isEmpty()
                    ? failed
                    : failed.in("making %s/%s".formatted(parameters.path(), file));
        }
    }

    /** The mode that a region on a disk gets. A file is made to find out, and deleted. */
    private static RegionMode mode(
            String use, PmParameters parameters, Disk disk, String directory) {
        if (parameters.mode() == PmParameters.Mode.VOLATILE) {
            return RegionMode.VOLATILE;
        }
        RegionMode best = bestMode(use, parameters, disk, directory);
        RegionMode wanted = switch (parameters.mode()) {
            case AUTO, VOLATILE -> best;
            case FILE -> RegionMode.FILE;
            case DAX -> RegionMode.DAX;
        };
        boolean isThere = wanted == best || (wanted == RegionMode.FILE && best == RegionMode.DAX);
        if (!isThere) {
            throw refused(use, parameters, disk, best);
        }
        return wanted;
    }

    private static RegionMode bestMode(
            String use, PmParameters parameters, Disk disk, String directory) {
        try {
            return bestMode(disk, directory);
        } catch (StorageIoException e) {
            boolean isOfUser = !parameters.path().isEmpty()
                    && (e.kind() == StorageIoException.Kind.ACCESS_DENIED
                            || e.kind() == StorageIoException.Kind.NOT_FOUND);
            if (!isOfUser) {
                throw e.in("%s: trying %s out".formatted(use, disk.description()));
            }
            throw new InvalidRequestException(
                    "%s: path: %s takes no files: %s"
                            .formatted(use, parameters.path(), e.getMessage()),
                    e);
        }
    }

    /** Tried once more if another one has swept the probe away before it was locked. */
    private static RegionMode bestMode(Disk disk, String directory) {
        PmFiles.sweepProbes(disk, directory);
        String probe = PmFiles.probe(directory);
        try {
            return SegmentMemory.bestMode(disk, probe);
        } catch (StorageIoException first) {
            if (first.kind() == StorageIoException.Kind.NO_SPACE || disk.exists(probe)) {
                throw first;
            }
            return SegmentMemory.bestMode(disk, PmFiles.probe(directory));
        }
    }

    private static InvalidRequestException refused(
            String use, PmParameters parameters, Disk disk, RegionMode best) {
        return new InvalidRequestException("%s: mode %s is not to be had in %s; there is %s"
                .formatted(
                        use,
                        parameters.mode().label(),
                        disk.description(),
                        PmParameters.Mode.of(best).label()));
    }

    @Override
    public @Nullable IndexRegion open(RegionPlace place, long absorbedThrough) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        if (parameters.mode() == PmParameters.Mode.VOLATILE) {
            return null;
        }
        Disk disk = PmFiles.disk(place, parameters);
        String file = PmFiles.found(disk, place, parameters);
        if (!disk.exists(file)) {
            if (parameters.mode() == PmParameters.Mode.AUTO
                    && bestMode(disk, parameters.path().isEmpty() ? place.directory() : "")
                            == RegionMode.VOLATILE) {
                return null;
            }
            throw CorruptionException.missing(file, "the manifest names it");
        }
        SegmentMemory memory = map(disk, file, parameters, parameters.toSpec(place));
        if (memory == null) {
            throw refused(place.name(), parameters, disk, RegionMode.VOLATILE);
        }
        return PmRegion.open(memory, place, parameters.toSpec(place), absorbedThrough);
    }

    @Override
    public @Nullable IndexRegion openCopy(RegionPlace place, long absorbedThrough) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        if (parameters.mode() == PmParameters.Mode.VOLATILE) {
            return null;
        }
        Disk disk = PmFiles.disk(place, parameters);
        String file = PmFiles.found(disk, place, parameters);
        if (!disk.exists(file)) {
            throw CorruptionException.missing(file, "the manifest names it");
        }
        return PmRegion.open(
                copyOf(disk, file, parameters, parameters.toSpec(place)),
                place,
                parameters.toSpec(place),
                absorbedThrough);
    }

    /** It is checked by the rules of the memory that it is a copy of, as its header says. */
    private static SegmentMemory copyOf(
            Disk disk, String file, PmParameters parameters, RegionSpec spec) {
        RegionMode first =
                parameters.mode() == PmParameters.Mode.DAX ? RegionMode.DAX : RegionMode.FILE;
        int extentBytes = parameters.extentBytes();
        SegmentMemory copy = SegmentMemory.copyOf(disk, file, extentBytes, first);
        boolean isOther = parameters.mode() == PmParameters.Mode.AUTO
                && Region.keptMode(copy, spec) == RegionMode.DAX;
        if (!isOther) {
            return copy;
        }
        copy.close();
        return SegmentMemory.copyOf(disk, file, extentBytes, RegionMode.DAX);
    }

    private static @Nullable SegmentMemory map(
            Disk disk, String file, PmParameters parameters, RegionSpec spec) {
        int extentBytes = parameters.extentBytes();
        return switch (parameters.mode()) {
            case DAX -> SegmentMemory.open(disk, file, extentBytes, RegionMode.DAX, spec);
            case AUTO -> {
                SegmentMemory dax =
                        SegmentMemory.open(disk, file, extentBytes, RegionMode.DAX, spec);
                yield dax != null
                        ? dax
                        : SegmentMemory.open(disk, file, extentBytes, RegionMode.FILE, spec);
            }
            default -> SegmentMemory.open(disk, file, extentBytes, RegionMode.FILE, spec);
        };
    }

    @Override
    public void drop(RegionPlace place) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        if (parameters.mode() != PmParameters.Mode.VOLATILE) {
            PmFiles.drop(place, parameters);
        }
    }

    @Override
    public @Nullable OutsideFile outside(RegionPlace place) {
        return PmFiles.outside(place, PmParameters.kept(place.parameters()));
    }

    @Override
    public OutsideFile.Removal removeOutside(OutsideFile file, long storeId, long regionId) {
        return PmFiles.removeOutside(file, storeId, regionId);
    }
}
