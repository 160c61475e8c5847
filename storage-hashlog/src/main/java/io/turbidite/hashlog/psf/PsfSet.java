package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.TokenReader;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.ScanMode;

import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The PSFs of a log by id, and the parser that reads its records. <em>Immutable:</em> adding and
 * removing make another set, and each session compiles its own {@link #newExtractor()} from the set
 * of the moment.
 */
public final class PsfSet {
    private final ParserSpec parser;
    private final PsfFunctions functions;
    private final SortedMap<Integer, PsfDefinition> definitions;

    private PsfSet(
            ParserSpec parser,
            PsfFunctions functions,
            SortedMap<Integer, PsfDefinition> definitions) {
        this.parser = parser;
        this.functions = functions;
        this.definitions = Collections.unmodifiableSortedMap(definitions);
    }

    /** The set without a PSF: its extractor does not parse. */
    public static PsfSet empty(ParserSpec parser) {
        return empty(parser, PsfFunctions.NONE);
    }

    /** The same, where definitions may name {@code functions}. */
    public static PsfSet empty(ParserSpec parser, PsfFunctions functions) {
        // what the registry could not read back must not get in
        ParserSpec.parse(parser.text());
        return new PsfSet(parser, functions, new TreeMap<>());
    }

    /**
     * The set of these definitions by id, which were read from their texts: compiled once, where
     * adding one by one would compile each set on the way.
     *
     * @throws InvalidRequestException as {@link #with}
     */
    public static PsfSet of(
            ParserSpec parser,
            PsfFunctions functions,
            SortedMap<Integer, PsfDefinition> definitions) {
        PsfSet set = new PsfSet(parser, functions, new TreeMap<>(definitions));
        set.newExtractor();
        return set;
    }

    /**
     * This set and {@code definition} as PSF {@code id}.
     *
     * @throws InvalidRequestException if the id is out of range or taken, the parser knows no such
     *     field, or a function is not registered
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
        // what the registry could not read back must not get in: a text form may be longer than its
        // source
        PsfDefinition.parse(definition.text());
        PsfSet set = new PsfSet(parser, functions, more);
        // what does not compile is refused here and not by every session
        set.newExtractor();
        return set;
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
        return new PsfSet(parser, functions, fewer);
    }

    /** How records are read. */
    public ParserSpec parser() {
        return parser;
    }

    /** Whether there is no PSF. */
    public boolean isEmpty() {
        return definitions.isEmpty();
    }

    /** The ids in ascending order. */
    public Set<Integer> ids() {
        return definitions.keySet();
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

    /** A plan of its own for one thread, by the best {@link ScanMode}. */
    public PropertyExtractor newExtractor() {
        return newExtractor(ScanMode.best());
    }

    /** A plan of its own for one thread. */
    public PropertyExtractor newExtractor(ScanMode mode) {
        return new PsfPlan(parser, definitions, functions, mode, false);
    }

    /**
     * A plan of its own for one thread, for records that were taken: a value that is none, where
     * nobody looked at it as the record came, is missing.
     */
    public PropertyExtractor newReader() {
        return new PsfPlan(parser, definitions, functions, ScanMode.best(), true);
    }

    /**
     * What to look for if a user asks PSF {@code id} for {@code text}: a string between quotes, a
     * number, {@code true} or {@code false} as JSON writes them, and anything else is a string as
     * it stands. Of buckets and ranges the user names a number that lies in it; of predicates,
     * {@code true}.
     *
     * @throws InvalidRequestException if there is no such PSF, or it can't have such a value
     */
    public PropertyValue valueOf(int id, String text) {
        return ValueReader.valueOf(definition(id), text);
    }

    /** One line for the parser and one for each PSF: what {@link #parse} reads. */
    public String text() {
        StringBuilder text = new StringBuilder(parser.text());
        definitions.forEach((id, definition) ->
                text.append('\n').append((int) id).append(' ').append(definition.text()));
        return text.toString();
    }

    /** {@link #parse(String, PsfFunctions)} where no definition names a function. */
    public static PsfSet parse(String text) {
        return parse(text, PsfFunctions.NONE);
    }

    /**
     * Reads {@link #text()}.
     *
     * @throws InvalidRequestException that says what is wrong and in which line, counted from 1
     */
    public static PsfSet parse(String text, PsfFunctions functions) {
        String[] lines = text.split("\n", -1);
        int line = 0;
        try {
            PsfSet set = empty(ParserSpec.parse(lines[0]), functions);
            SortedMap<Integer, PsfDefinition> definitions = new TreeMap<>();
            for (line = 1; line < lines.length; line++) {
                int blank = lines[line].indexOf(' ');
                TokenReader number = new TokenReader(lines[line].substring(0, Math.max(0, blank)));
                int id = number.integer(0, Properties.PSF_ID_MAX);
                number.end();
                PsfDefinition definition = PsfDefinition.parse(lines[line].substring(blank + 1));
                if (definitions.put(id, definition) != null) {
                    throw new InvalidRequestException("PSF id %d comes twice".formatted(id));
                }
            }
            line = 0;
            PsfSet full = new PsfSet(set.parser, functions, definitions);
            full.newExtractor();
            return full;
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "line %d of the PSFs: %s".formatted(line + 1, e.getMessage()), e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PsfSet that
                && parser.equals(that.parser)
                && definitions.equals(that.definitions);
    }

    @Override
    public int hashCode() {
        return definitions.hashCode();
    }

    @Override
    public String toString() {
        return text();
    }
}
