package io.turbidite.core.index;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * A kind of secondary index that keeps its disk part by itself: a store hands it the entries of
 * each flush, and asks it for them. The store knows nothing of how it does that, and the kind
 * nothing of stores.
 *
 * <p>What a kind promises:
 *
 * <ol>
 *   <li>It has one {@link IndexRegion} for each index of each partition. A region is derived data:
 *       the store builds it again from its records whenever the kind says that it is not sound.
 *   <li>It never gives a wrong answer: what it can't vouch for when a region is opened, it refuses.
 *   <li>It keeps keys as they are: entry keys up to the limit of
 *       {@link io.turbidite.core.Limits#KEY_BYTES_MAX}, in the order of their bytes.
 * </ol>
 *
 * <p><em>Thread-safe.</em> A store is given its kinds when it is opened. A kind that is installed
 * as a service ({@link java.util.ServiceLoader}) is given to stores that JDBC opens.
 */
public interface IndexKind {
    /** The name in definitions and manifests: {@code pm}. */
    String name();

    /**
     * Checks the parameters of a definition, and adds what they leave open. What this gives is what
     * the manifest keeps; given again, it stays the same.
     *
     * @param use who it is for, in messages: {@code "index by_tail"}
     * @param parameters as a user gave them
     * @param primaryKeyBytesMax the longest primary key that records may have
     * @throws io.turbidite.core.InvalidRequestException naming the parameter that is unknown or out
     *     of range, or what the machine has not
     */
    Map<String, String> define(String use, Map<String, String> parameters, int primaryKeyBytesMax);

    /**
     * Makes an empty region.
     *
     * @throws io.turbidite.core.StorageException if it can't; then nothing is left of it
     */
    IndexRegion create(RegionPlace place);

    /**
     * Opens a region as it was left. What it holds above {@code absorbedThrough} is taken back
     * first: an absorption that was cut, or that its store does not know of.
     *
     * @param absorbedThrough up to which timestamp the store knows the region to be whole
     * @return null if the kind keeps nothing from one opening to the next
     * @throws io.turbidite.core.StorageException if it is missing, damaged, another's, of another
     *     session than the place's last one, or has not absorbed as much: it must be made anew
     */
    @Nullable
    IndexRegion open(RegionPlace place, long absorbedThrough);

    /**
     * Opens a region to be read, and changes nothing: what it reads is a copy, or untouched.
     *
     * @param absorbedThrough what lies above it is passed over
     * @return null if the kind keeps nothing from one opening to the next
     * @throws io.turbidite.core.StorageException as {@link #open}
     */
    @Nullable
    IndexRegion openCopy(RegionPlace place, long absorbedThrough);

    /** Deletes a region that is not open, durably; nothing happens if there is none. */
    void drop(RegionPlace place);

    /**
     * Where the file of a region lies, or will lie when it is made, if that is not in the store.
     * The store notes it before the region is made, so that a later opening can delete what a
     * killed process left there.
     *
     * @return null if it lies in the store, or has no file
     */
    default @Nullable OutsideFile outside(RegionPlace place) {
        return null;
    }

    /**
     * Deletes a region's file that no store names any more, if it is that region's: by what is
     * written in it, not by its name alone. No link is followed.
     *
     * @param file as {@link #outside} gave it
     * @throws io.turbidite.core.StorageException if it is that region's and can't be deleted, or
     *     can't be read
     */
    default OutsideFile.Removal removeOutside(OutsideFile file, long storeId, long regionId) {
        return OutsideFile.Removal.OUT_OF_REACH;
    }
}
