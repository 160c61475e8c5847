package io.turbidite.pm;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Xxh3;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.index.OutsideFile;
import io.turbidite.core.index.OutsideFile.Removal;
import io.turbidite.core.index.RegionPlace;
import io.turbidite.pm.region.RegionFile;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Where the files of regions lie, and what they are called. In the store a file is called by its
 * region's number. In a {@code path}, which stores may share, its name has three parts of 16
 * hexadecimal digits each: the store's number, the hash of the store's directory, the region's
 * number. A copy of a store has its number, and another directory.
 *
 * <p>Stateless.
 */
final class PmFiles {
    private static final String PROBE_SUFFIX = ".region.probe";
    /** A region had a probe of its own, behind its name. */
    private static final String PROBE_SUFFIX_OF_BEFORE = ".probe";

    private static final Pattern PROBE = Pattern.compile("[0-9a-f]{16}\\.region\\.probe");

    private PmFiles() {}

    /**
     * The disk of a region. Makes no directory: where a disk is not mounted, another one would get
     * the regions.
     *
     * @throws InvalidRequestException if there is no such directory
     */
    static Disk disk(RegionPlace place, PmParameters parameters) {
        return parameters.path().isEmpty() ? place.disk() : directory(place.name(), parameters);
    }

    static RealDisk directory(String use, PmParameters parameters) {
        Path path = Path.of(parameters.path());
        try {
            RealDisk.checkDirectory(path);
        } catch (InvalidRequestException wrong) {
            throw new InvalidRequestException(
                    "%s: path: %s".formatted(use, wrong.getMessage()), wrong);
        }
        return RealDisk.open(path);
    }

    /** The name of a region that is made. */
    static String file(RegionPlace place, PmParameters parameters) {
        if (parameters.path().isEmpty()) {
            return place.file();
        }
        byte[] directory = place.disk().description().getBytes(StandardCharsets.UTF_8);
        return "%016x-%016x-%s"
                .formatted(
                        place.storeId(),
                        Xxh3.hash(directory, 0, directory.length),
                        RegionPlace.fileName(place.regionId()));
    }

    /** What it was called before: its hash has 32 bits, which two directories may have. */
    private static String fileOfBefore(RegionPlace place, PmParameters parameters) {
        return parameters.path().isEmpty()
                ? place.file()
                : "%016x-%08x-%s"
                        .formatted(
                                place.storeId(),
                                place.disk().description().hashCode(),
                                RegionPlace.fileName(place.regionId()));
    }

    /** The name of a region that should be there: as it is made now, or as it was made before. */
    static String found(Disk disk, RegionPlace place, PmParameters parameters) {
        String today = file(place, parameters);
        String before = fileOfBefore(place, parameters);
        return !disk.exists(today) && disk.exists(before) ? before : today;
    }

    /** The name of a file that is made to try a directory out: no file has it. */
    static String probe(String directory) {
        String name = "%016x%s".formatted(UUID.randomUUID().getMostSignificantBits(), PROBE_SUFFIX);
        return directory.isEmpty() ? name : directory + "/" + name;
    }

    /** Deletes the probes that killed processes left in a directory, as far as that goes. */
    static void sweepProbes(Disk disk, String directory) {
        try {
            for (String name : disk.list(directory)) {
                if (PROBE.matcher(name).matches()) {
                    RegionFile.sweep(disk, directory.isEmpty() ? name : directory + "/" + name);
                }
            }
        } catch (StorageIoException left) {
            // of another user, or in use: who tries the directory out next looks again
        }
    }

    /**
     * Deletes a region's file: in the store whatever has its name, as what lies there is the
     * store's own; elsewhere only what is that region's, durably.
     *
     * @throws StorageIoException of kind ALREADY_EXISTS if something else is there: it is left
     */
    static void drop(RegionPlace place, PmParameters parameters) {
        String file = file(place, parameters);
        boolean isOutside = !parameters.path().isEmpty();
        try {
            Disk disk = disk(place, parameters);
            file = found(disk, place, parameters);
            if (isOutside) {
                Removal removal = RegionFile.remove(disk, file, place.storeId(), place.regionId());
                if (removal != Removal.GONE) {
                    throw new StorageIoException(
                            StorageIoException.Kind.ALREADY_EXISTS,
                            "delete",
                            file,
                            "what has its name is not that region, or is damaged: it is yours to delete",
                            null);
                }
            } else if (disk.exists(file)) {
                disk.delete(file);
            }
        } catch (InvalidRequestException gone) {
            throw new InvalidRequestException(
                    "%s; its file %s is not deleted".formatted(gone.getMessage(), file), gone);
        } catch (StorageIoException refused) {
            throw refused.in("%s/%s is not deleted".formatted(parameters.path(), file));
        }
    }

    /** Where a region lies, if not in its store. */
    static @Nullable OutsideFile outside(RegionPlace place, PmParameters parameters) {
        if (parameters.path().isEmpty() || parameters.mode() == PmParameters.Mode.VOLATILE) {
            return null;
        }
        Path directory = Path.of(parameters.path());
        if (!RealDisk.isDirectory(directory)) {
            return new OutsideFile(directory.resolve(file(place, parameters)).toString(), "");
        }
        RealDisk disk = RealDisk.open(directory);
        return new OutsideFile(
                directory.resolve(found(disk, place, parameters)).toString(), disk.inode());
    }

    /**
     * Deletes a region's file, and what was made to try its place out, if they are that region's.
     */
    static Removal removeOutside(OutsideFile file, long storeId, long regionId) {
        Path path = Path.of(file.path());
        Path directory = path.getParent();
        String name = String.valueOf(path.getFileName());
        String end = "-" + RegionPlace.fileName(regionId);
        if (directory == null
                || !path.isAbsolute()
                || !name.startsWith("%016x-".formatted(storeId))
                || !name.endsWith(end)) {
            return Removal.ANOTHERS;
        }
        if (!RealDisk.isDirectory(directory)) {
            return Removal.OUT_OF_REACH;
        }
        RealDisk disk = RealDisk.open(directory);
        Removal removal = remove(disk, name, file.place(), storeId, regionId);
        String probe = name + PROBE_SUFFIX_OF_BEFORE;
        return removal == Removal.GONE && disk.exists(probe)
                ? remove(disk, probe, file.place(), storeId, regionId)
                : removal;
    }

    private static Removal remove(
            RealDisk disk, String name, String inode, long storeId, long regionId) {
        if (!disk.exists(name)) {
            // an empty directory is what a file system leaves where it is not mounted
            boolean isThere = inode.isEmpty() || inode.equals(disk.inode());
            return isThere ? Removal.GONE : Removal.OUT_OF_REACH;
        }
        return RegionFile.remove(disk, name, storeId, regionId);
    }
}
