package io.turbidite.feeds.manage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.store.LetterLines;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Some dead letters of a feed, in the order in which they came. <em>Immutable.</em>
 *
 * @param next where to go on reading: those that come later are there
 * @param retriedTo letters before it were fed again, by {@link FeedManager#retryLetters}
 */
public record FeedLetters(List<Letter> letters, long next, long retriedTo) {
    private static final ObjectMapper JSON = new ObjectMapper();

    public FeedLetters {
        letters = List.copyOf(letters);
    }

    /**
     * A record that was not accepted.
     *
     * @param at where the letter begins among the feed's letters, in bytes
     * @param source the name of the partition of the source: a file's
     * @param line of the source, from 1
     * @param offset in the source's (uncompressed) content, in bytes
     * @param reason a sentence
     * @param raw its text, cut if it is long; null if it is not UTF-8
     * @param rawBase64 its bytes, if it is not UTF-8
     * @param rawBytes the full length, if it was cut; else 0
     */
    public record Letter(
            long at,
            String source,
            long line,
            long offset,
            String reason,
            @Nullable String raw,
            @Nullable String rawBase64,
            long rawBytes) {}

    static FeedLetters read(Store store, String feed, long from, int limit) {
        if (limit < 1) {
            throw new InvalidRequestException("of dead letters at least one is read, not " + limit);
        }
        List<Letter> letters = new ArrayList<>();
        long next = from;
        for (LetterLines.Line line : LetterLines.read(store, feed, from, limit)) {
            letters.add(letter(line));
            next = line.next();
        }
        return new FeedLetters(letters, next, Feed.lettersRetriedTo(store, feed));
    }

    private static Letter letter(LetterLines.Line line) {
        JsonNode json;
        try {
            json = JSON.readTree(line.text());
        } catch (JsonProcessingException edited) {
            return new Letter(line.offset(), "", 0, 0, "", line.text(), null, 0);
        }
        return new Letter(
                line.offset(),
                json.path("source").asText(),
                json.path("line").asLong(),
                json.path("offset").asLong(),
                json.path("reason").asText(),
                json.hasNonNull("raw") ? json.path("raw").asText() : null,
                json.hasNonNull("rawBase64") ? json.path("rawBase64").asText() : null,
                json.path("rawBytes").asLong());
    }
}
