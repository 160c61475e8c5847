package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.parse.ParserSpec;

import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The PSFs of a log by id, and the parser that reads its records. <em>Immutable:</em> adding and removing
 * make another set, and each session compiles its own {@link #newExtractor()} from the set of the moment.
 */
public final class PsfSet {
    private final ParserSpec parser;
    private final SortedMap<Integer, PsfDefinition> definitions;

    private PsfSet(ParserSpec parser, SortedMap<Integer, PsfDefinition> definitions) {
        this.parser = parser;
        this.definitions = definitions;
    }

    /** The set without a PSF: its extractor does not parse. */
    public static PsfSet empty(ParserSpec parser) {
        return new PsfSet(parser, new TreeMap<>());
    }

    /**
     * This set and {@code definition} as PSF {@code id}.
     *
     * @throws InvalidRequestException if the id is out of range or taken
     */
    public PsfSet with(int id, PsfDefinition definition) {
        if (id < 0 || id > Properties.PSF_ID_MAX) {
            throw new InvalidRequestException(
                    "PSF id %d is not within 0..%d".formatted(id, Properties.PSF_ID_MAX));
        }
        SortedMap<Integer, PsfDefinition> more = new TreeMap<>(definitions);
        if (more.putIfAbsent(id, definition) != null) {
            throw new InvalidRequestException("PSF id %d is taken".formatted(id));
        }
        return new PsfSet(parser, more);
    }

    /**
     * This set without PSF {@code id}.
     *
     * @throws InvalidRequestException if it has none
     */
    public PsfSet without(int id) {
        definition(id);
        SortedMap<Integer, PsfDefinition> fewer = new TreeMap<>(definitions);
        fewer.remove(id);
        return new PsfSet(parser, fewer);
    }

    public ParserSpec parser() {
        return parser;
    }

    public boolean isEmpty() {
        return definitions.isEmpty();
    }

    /** The ids in ascending order. */
    public Set<Integer> ids() {
        return Set.copyOf(definitions.keySet());
    }

    /**
     * What PSF {@code id} computes.
     *
     * @throws InvalidRequestException if the set has none of this id
     */
    public PsfDefinition definition(int id) {
        PsfDefinition definition = definitions.get(id);
        if (definition == null) {
            throw new InvalidRequestException("there is no PSF of id %d".formatted(id));
        }
        return definition;
    }

    /** A plan of its own for one thread. */
    public PropertyExtractor newExtractor() {
        return new ReferenceExtractor(definitions);
    }

    /** One line for the parser and one for each PSF; what {@link #parse} reads. */
    public String text() {
        StringBuilder text = new StringBuilder(parser.text());
        definitions.forEach((id, definition) ->
                text.append('\n').append((int) id).append(' ').append(definition.text()));
        return text.toString();
    }

    /**
     * Reads {@link #text()}.
     *
     * @throws InvalidRequestException that says what is wrong and in which line
     */
    public static PsfSet parse(String text) {
        String[] lines = text.split("\n", -1);
        PsfSet set = empty(new ParserSpec.Json());
        for (int i = 1; i < lines.length; i++) {
            int blank = lines[i].indexOf(' ');
            set = set.with(
                    Integer.parseInt(lines[i].substring(0, blank)),
                    PsfDefinition.parse(lines[i].substring(blank + 1)));
        }
        return set;
    }
}
