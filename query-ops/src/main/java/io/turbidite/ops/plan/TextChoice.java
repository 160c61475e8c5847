package io.turbidite.ops.plan;

import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.text.TextQuery;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Predicate;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/** How an inverted index finds the texts that are asked for. */
final class TextChoice {
    /** Most terms that an index is searched by: each has a cursor of its own on every component. */
    private static final int TERM_COUNT_MAX = 256;

    private TextChoice() {}

    /** A search for each question that the index's tokens answer; none, if its tables are old. */
    static List<IndexSearch> searches(Conditions conditions, IndexDescription index) {
        List<IndexSearch> searches = new ArrayList<>();
        Tokenizer tokenizer = TokenKeys.tokenizer(index.parameters());
        if (tokenizer == null) {
            return searches;
        }
        String field = index.fields().getFirst();
        List<String> words = conditions.words(field);
        if (!words.isEmpty() && tokenizer.equals(Tokenizer.WORD)) {
            searches.add(new TermSearch(words));
        }
        for (TextQuery asked : conditions.textQueries(field)) {
            IndexSearch search = search(asked, tokenizer);
            if (search != null) {
                searches.add(search);
            }
        }
        return searches;
    }

    private static @Nullable IndexSearch search(TextQuery asked, Tokenizer tokenizer) {
        if (asked instanceof TextQuery.Prefix prefix) {
            return prefix.tokenizer().equals(tokenizer)
                    ? KeyRange.startingWith(TokenKeys.encodeBeginning(prefix.beginning()))
                    : null;
        }
        TextQuery.Terms terms = asked.terms(tokenizer);
        return terms == null || terms.tokens().size() > TERM_COUNT_MAX
                ? null
                : new TermSearch(terms.tokens(), terms.least());
    }

    /** Whether every record that matches is among those that a search was made to find. */
    static boolean goesBy(IndexRange range, String field, TextQuery asked) {
        Tokenizer tokenizer = TokenKeys.tokenizer(range.index().parameters());
        if (tokenizer == null || !range.index().fields().getFirst().equals(field)) {
            return false;
        }
        IndexSearch search = search(asked, tokenizer);
        boolean isOfWords = asked instanceof TextQuery.All
                && search instanceof TermSearch few
                && range.search() instanceof TermSearch all
                && all.least() == all.terms().size()
                && all.terms().containsAll(few.terms());
        return isOfWords || range.search().equals(search);
    }

    /** Whether every record that a search finds fulfils all conditions, without a look at it. */
    static boolean saysAll(IndexRange range, Conditions conditions) {
        if (conditions.testCount() > 0) {
            return false;
        }
        for (Predicate predicate : conditions.predicates()) {
            boolean says = switch (predicate) {
                case Predicate.Contains(String field, String words) ->
                    says(range, field, new TextQuery.All(Tokenizer.WORD, words));
                case Predicate.Matches(String field, TextQuery asked) -> says(range, field, asked);
                default -> false;
            };
            if (!says) {
                return false;
            }
        }
        return true;
    }

    /** Whether every record that a search finds matches, without a look at it. */
    static boolean says(IndexRange range, String field, TextQuery asked) {
        Tokenizer tokenizer = TokenKeys.tokenizer(range.index().parameters());
        if (tokenizer == null
                || !(range.search() instanceof TermSearch search)
                || !range.index().fields().getFirst().equals(field)) {
            return false;
        }
        TextQuery.Terms terms = asked.terms(tokenizer);
        boolean isByTokens = switch (asked) {
            case TextQuery.All _ ->
                terms != null
                        && search.least() == search.terms().size()
                        && search.terms().containsAll(terms.tokens());
            case TextQuery.Any _ ->
                terms != null
                        && search.least() == terms.least()
                        && search.terms().equals(terms.tokens());
            case TextQuery.Prefix _, TextQuery.Jaccard _, TextQuery.Distance _ -> false;
        };
        // the tokens of an array may be of different elements, and one element has to have them
        if (field.endsWith(RecordType.EACH) && (terms == null || terms.least() > 1)) {
            return false;
        }
        // of a longer token another one may have the same entry
        return isByTokens && search.terms().stream().noneMatch(TokenKeys::isCut);
    }
}
