package io.turbidite.pm;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.index.IndexKind;
import io.turbidite.core.index.IndexRegion;
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

    /** The names of what a definition may tell it. */
    public static final List<String> PARAMETERS = List.of(
            PmParameters.MODE, PmParameters.PATH, PmParameters.BYTES, PmParameters.PAGE_BYTES);

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Map<String, String> define(
            String use, Map<String, String> parameters, int primaryKeyBytesMax) {
        PmParameters checked = PmParameters.of(use, parameters, primaryKeyBytesMax);
        if (!checked.path().isEmpty()) {
            try {
                RealDisk.checkDirectory(Path.of(checked.path()));
            } catch (InvalidRequestException wrong) {
                throw new InvalidRequestException(
                        "%s: path: %s".formatted(use, wrong.getMessage()), wrong);
            }
        }
        return checked.toMap();
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
        Disk disk = disk(place, parameters);
        RegionMode best = parameters.mode() == PmParameters.Mode.VOLATILE
                ? RegionMode.VOLATILE
                : SegmentMemory.bestMode(disk, file(place, parameters) + ".probe");
        RegionMode mode = mode(place, parameters, best);
        if (mode == RegionMode.VOLATILE) {
            return PmRegion.create(
                    SegmentMemory.inMemory(place.name(), parameters.extentBytes()),
                    place,
                    parameters.toSpec(place));
        }
        drop(place); // what has the number was of a store that forgot it
        SegmentMemory memory =
                SegmentMemory.map(disk, file(place, parameters), parameters.extentBytes(), mode);
        if (memory == null) {
            throw refused(place, parameters, best);
        }
        try (Undo undo = Undo.of(() -> drop(place))) {
            return undo.keep(PmRegion.create(memory, place, parameters.toSpec(place)));
        }
    }

    private static RegionMode mode(RegionPlace place, PmParameters parameters, RegionMode best) {
        return switch (parameters.mode()) {
            case AUTO -> best;
            case VOLATILE -> RegionMode.VOLATILE;
            case FILE -> {
                if (best == RegionMode.VOLATILE) {
                    throw refused(place, parameters, best);
                }
                yield RegionMode.FILE;
            }
            case DAX -> {
                if (best != RegionMode.DAX) {
                    throw refused(place, parameters, best);
                }
                yield RegionMode.DAX;
            }
        };
    }

    private static InvalidRequestException refused(
            RegionPlace place, PmParameters parameters, RegionMode best) {
        return new InvalidRequestException("%s: mode %s is not to be had here; there is %s"
                .formatted(
                        place.name(),
                        parameters.mode().label(),
                        PmParameters.Mode.of(best).label()));
    }

    @Override
    public @Nullable IndexRegion open(RegionPlace place, long absorbedThrough) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        if (parameters.mode() == PmParameters.Mode.VOLATILE) {
            return null;
        }
        Disk disk = disk(place, parameters);
        String file = file(place, parameters);
        if (!disk.exists(file)) {
            if (parameters.mode() == PmParameters.Mode.AUTO
                    && SegmentMemory.bestMode(disk, file + ".probe") == RegionMode.VOLATILE) {
                return null;
            }
            throw CorruptionException.missing(file, "the manifest names it");
        }
        SegmentMemory memory = map(disk, file, parameters);
        if (memory == null) {
            throw refused(place, parameters, RegionMode.VOLATILE);
        }
        return PmRegion.open(memory, place, parameters.toSpec(place), absorbedThrough);
    }

    @Override
    public @Nullable IndexRegion openCopy(RegionPlace place, long absorbedThrough) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        if (parameters.mode() == PmParameters.Mode.VOLATILE) {
            return null;
        }
        Disk disk = disk(place, parameters);
        String file = file(place, parameters);
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

    private static @Nullable SegmentMemory map(Disk disk, String file, PmParameters parameters) {
        int extentBytes = parameters.extentBytes();
        return switch (parameters.mode()) {
            case DAX -> SegmentMemory.map(disk, file, extentBytes, RegionMode.DAX);
            case AUTO -> {
                SegmentMemory dax = SegmentMemory.map(disk, file, extentBytes, RegionMode.DAX);
                yield dax != null
                        ? dax
                        : SegmentMemory.map(disk, file, extentBytes, RegionMode.FILE);
            }
            default -> SegmentMemory.map(disk, file, extentBytes, RegionMode.FILE);
        };
    }

    @Override
    public void drop(RegionPlace place) {
        PmParameters parameters = PmParameters.kept(place.parameters());
        if (parameters.mode() != PmParameters.Mode.VOLATILE) {
            Disk disk = disk(place, parameters);
            String file = file(place, parameters);
            if (disk.exists(file)) {
                disk.delete(file);
            }
        }
    }

    /** Makes no directory: where a disk is not mounted, another one would get the regions. */
    private static Disk disk(RegionPlace place, PmParameters parameters) {
        if (parameters.path().isEmpty()) {
            return place.disk();
        }
        Path path = Path.of(parameters.path());
        try {
            RealDisk.checkDirectory(path);
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException(
                    "%s: path: %s".formatted(place.name(), wrong.getMessage()), wrong);
        }
        return RealDisk.open(path);
    }

    /**
     * Two stores never have the same name for their regions, wherever these lie. A restored store
     * has the number of the one that it was copied from, and another directory.
     */
    private static String file(RegionPlace place, PmParameters parameters) {
        return parameters.path().isEmpty()
                ? place.file()
                : "%016x-%08x-%s"
                        .formatted(
                                place.storeId(),
                                place.disk().description().hashCode(),
                                RegionPlace.fileName(place.regionId()));
    }
}
