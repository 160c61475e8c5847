package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import java.nio.charset.StandardCharsets;

/**
 * Whether texts match a {@link TextQuery}: what a scan asks, and what an index's candidates are
 * checked by. Makes no garbage for a text. <em>Confined to one thread.</em>
 */
public final class TextTest {
    private final TextQuery query;
    private final TokenCursor cursor;

    /** Those of the query. */
    private final TokenSet wanted = new TokenSet();

    /** By their number, in which of the texts they were found last. */
    private final int[] foundIn;

    private int textCount;

    /** Of the text, where they must be told apart. */
    private final TokenSet tokens = new TokenSet();

    private final ByteSink token = new ByteSink(64, Integer.MAX_VALUE - 16);
    private final Slice tokenSlice = new Slice();
    private final Slice beginning;
    private final Letters wantedLetters = new Letters();
    private final Letters letters = new Letters();
    private final EditDistance distance = new EditDistance();

    TextTest(TextQuery query) {
        this.query = query;
        this.cursor = tokenizer(query).newCursor();
        Slice text = Slice.of(query.text().getBytes(StandardCharsets.UTF_8));
        cursor.wrap(text);
        while (cursor.next()) {
            wanted.add(cursor);
        }
        this.foundIn = new int[wanted.count()];
        this.beginning = query instanceof TextQuery.Prefix prefix
                ? Slice.of(prefix.beginning().getBytes(StandardCharsets.UTF_8))
                : new Slice();
        wantedLetters.read(text);
    }

    private static Tokenizer tokenizer(TextQuery query) {
        return switch (query) {
            case TextQuery.All all -> all.tokenizer();
            case TextQuery.Any any -> any.tokenizer();
            case TextQuery.Prefix prefix -> prefix.tokenizer();
            case TextQuery.Jaccard jaccard -> jaccard.tokenizer();
            case TextQuery.Distance _ -> Tokenizer.KEYWORD;
        };
    }

    /** Whether a text matches. */
    public boolean matches(Slice text) {
        return switch (query) {
            case TextQuery.All _ -> found(text, wanted.count()) == wanted.count();
            case TextQuery.Any _ -> found(text, 1) == 1;
            case TextQuery.Prefix _ -> hasBeginning(text);
            case TextQuery.Jaccard jaccard -> {
                int common = found(text, Integer.MAX_VALUE);
                yield common > 0 && jaccard.holds(common, wanted.count(), differentTokens(text));
            }
            case TextQuery.Distance(var _, int most) ->
                distance.isWithin(wantedLetters, letters.read(text), most);
        };
    }

    /** How many of the query's tokens a text has. */
    public int matchCount(Slice text) {
        return found(text, Integer.MAX_VALUE);
    }

    /** The share of the different tokens of a text and of the query that both have. */
    public double similarity(Slice text) {
        int common = found(text, Integer.MAX_VALUE);
        return common == 0
                ? 0
                : (double) common / (wanted.count() + differentTokens(text) - common);
    }

    /** Counts up to as many as are enough. */
    private int found(Slice text, int enough) {
        textCount++;
        int count = 0;
        cursor.wrap(text);
        while (count < enough && count < foundIn.length && cursor.next()) {
            cursor.append(token.clear(), Integer.MAX_VALUE);
            int number = wanted.find(token.asSlice(tokenSlice));
            if (number >= 0 && foundIn[number] != textCount) {
                foundIn[number] = textCount;
                count++;
            }
        }
        return count;
    }

    private boolean hasBeginning(Slice text) {
        cursor.wrap(text);
        while (cursor.next()) {
            if (cursor.byteCount() >= beginning.length()) {
                cursor.append(token.clear(), beginning.length());
                if (token.asSlice(tokenSlice).contentEquals(beginning)) {
                    return true;
                }
            }
        }
        return false;
    }

    private int differentTokens(Slice text) {
        tokens.clear();
        cursor.wrap(text);
        while (cursor.next()) {
            tokens.add(cursor);
        }
        return tokens.count();
    }
}
