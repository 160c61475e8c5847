package io.turbidite.hashlog.registry;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.hashlog.psf.PsfSet;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Everything durable about a log that is not in its pages: who it is, how it is shaped, its PSFs.
 *
 * <p><em>Immutable;</em> a change is another state, written whole by {@link RegistryFile}.
 *
 * @param logId random, of the log
 * @param number how often the registry was changed; pages say which one they were written under
 * @param tableBits the hash table's base bits, which its chains rely on; they only grow
 * @param parser reads the records
 * @param psfs by id, ascending and without gaps: also those that were deregistered
 */
public record RegistryState(
        long logId,
        int number,
        LogShape shape,
        int tableBits,
        ParserSpec parser,
        List<RegisteredPsf> psfs) {

    public RegistryState {
        psfs = List.copyOf(psfs);
    }

    /** The registry of a log that has no PSF yet. */
    public static RegistryState fresh(
            long logId, LogShape shape, int tableBits, ParserSpec parser) {
        return new RegistryState(logId, 0, shape, tableBits, parser, List.of());
    }

    /** With a table of more base bits. */
    public RegistryState withTableBits(int bits) {
        return new RegistryState(logId, number, shape, bits, parser, psfs);
    }

    /**
     * With one more active PSF, of the next id, indexed nowhere yet.
     *
     * @param chainCount how many chains each of its properties has
     * @throws InvalidRequestException if an active PSF has the name, ids are used up, or its text
     *     is too long
     */
    public RegistryState registered(String name, PsfDefinition definition, int chainCount) {
        if (name.isBlank() || name.length() > 256) {
            throw new InvalidRequestException(
                    "a PSF's name must have 1 to 256 characters: '%s'".formatted(name));
        }
        if (active(name) != null) {
            throw new InvalidRequestException(
                    "a PSF '%s' is registered: deregister it first, or take another name"
                            .formatted(name));
        }
        if (psfs.size() > Properties.PSF_ID_MAX) {
            throw new InvalidRequestException(
                    "%d PSFs have been registered, which is all a log can have: open a new log"
                            .formatted(psfs.size()));
        }
        // what could not be read back must not get in: a text form may be longer than its source
        PsfDefinition.parse(definition.text());
        List<RegisteredPsf> more = new ArrayList<>(psfs);
        more.add(RegisteredPsf.fresh(psfs.size(), name, definition, chainCount));
        return withPsfs(more);
    }

    /** With what {@code change} makes of PSF {@code id}. */
    public RegistryState changed(int id, UnaryOperator<RegisteredPsf> change) {
        List<RegisteredPsf> other = new ArrayList<>(psfs);
        other.set(id, change.apply(psf(id)));
        return withPsfs(other);
    }

    /** Recovery: chains have no place in the table, and begin anew at {@code end}. */
    public RegistryState indexedFrom(long end) {
        return withPsfs(psfs.stream().map(psf -> psf.indexedFrom(end)).toList());
    }

    /** Recovery: the log ends at {@code end}. */
    public RegistryState clipped(long end) {
        return withPsfs(psfs.stream().map(psf -> psf.clipped(end)).toList());
    }

    /**
     * The PSF of this id.
     *
     * @throws InvalidRequestException if there never was one
     */
    public RegisteredPsf psf(int id) {
        if (id < 0 || id >= psfs.size()) {
            throw new InvalidRequestException("there is no PSF of id %d".formatted(id));
        }
        return psfs.get(id);
    }

    /** The active PSF of this name, or null. */
    public @Nullable RegisteredPsf active(String name) {
        for (RegisteredPsf psf : psfs) {
            if (psf.active() && psf.name().equals(name)) {
                return psf;
            }
        }
        return null;
    }

    /**
     * The active ones, to make extractors of.
     *
     * @param functions that definitions may name
     * @throws InvalidRequestException if one names another
     */
    public PsfSet activeSet(PsfFunctions functions) {
        SortedMap<Integer, PsfDefinition> active = new TreeMap<>();
        for (RegisteredPsf psf : psfs) {
            if (psf.active()) {
                active.put(psf.id(), psf.definition());
            }
        }
        return PsfSet.of(parser, functions, active);
    }

    /** How many chains the properties of each PSF have. */
    public ChainHeads chainHeads() {
        return ChainHeads.of(psfs.stream().mapToInt(RegisteredPsf::chainCount).toArray());
    }

    /** The same, as the successor of {@code before}. */
    public RegistryState after(RegistryState before) {
        return new RegistryState(logId, before.number + 1, shape, tableBits, parser, psfs);
    }

    private RegistryState withPsfs(List<RegisteredPsf> others) {
        return new RegistryState(logId, number, shape, tableBits, parser, others);
    }
}
