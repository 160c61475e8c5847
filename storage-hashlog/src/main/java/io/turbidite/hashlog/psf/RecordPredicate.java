package io.turbidite.hashlog.psf;

import io.turbidite.core.expr.Expression;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.Rejection;

import java.lang.foreign.MemorySegment;

/**
 * An expression over one record after another, for full scans. <em>Confined to one thread.</em> No
 * garbage per record.
 */
public final class RecordPredicate {
    private final PropertyExtractor extractor;
    private final Properties properties = new Properties();
    private boolean refused;

    /**
     * @param expression in the language of {@link Expression}, fields compared with constants
     * @throws io.turbidite.core.InvalidRequestException if the expression or one of its fields is
     *     wrong
     */
    public RecordPredicate(ParserSpec parser, String expression) {
        extractor = PsfSet.empty(parser)
                .with(
                        0,
                        new PsfDefinition.Where(
                                Expression.condition(expression, Expression.Grammar.PATHS)))
                .newReader();
    }

    /**
     * Whether the expression is true of the record, in which a value that is none is missing; false
     * too if the record itself is malformed.
     */
    public boolean test(MemorySegment segment, long offset, int length) {
        refused = !extractor.extract(segment, offset, length, properties);
        return properties.count() > 0;
    }

    /** Whether the last record was malformed: {@link #rejection()} says how. */
    public boolean refused() {
        return refused;
    }

    /**
     * Why the last record was malformed.
     *
     * @throws IllegalStateException if it was not
     */
    public Rejection rejection() {
        return extractor.rejection();
    }
}
