package io.turbidite.feeds.command.copy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.CsvFormat;

import org.jspecify.annotations.Nullable;

import java.util.Locale;

/** How a file of records is written. */
enum FileFormat {
    /** A JSON object a line. */
    NDJSON,
    /** A row a record, with the names of the columns above. */
    CSV,
    /** An object file of Avro. It is read, and not written. */
    AVRO;

    private static final String AVRO_WORD = "avro";

    /** As {@link #of}, of a file that is to be read. */
    static FileFormat ofRead(@Nullable String word, String file) {
        boolean isAvro = word == null
                ? file.toLowerCase(Locale.ROOT).replaceFirst("\\.gz$", "").endsWith(".avro")
                : word.equals(AVRO_WORD);
        return isAvro ? AVRO : of(word, file, ", " + AVRO_WORD, " or --format " + AVRO_WORD);
    }

    /**
     * The format of that name, or of a file of that name.
     *
     * @param word null if the file's name is to say it
     * @throws InvalidRequestException if neither says one
     */
    static FileFormat of(@Nullable String word, String file) {
        return of(word, file, "", "");
    }

    private static FileFormat of(
            @Nullable String word, String file, String moreWords, String moreAdvice) {
        if (word != null) {
            return switch (word) {
                case "ndjson", "json" -> NDJSON;
                case "csv" -> CSV;
                default ->
                    throw new InvalidRequestException(
                            "--format '%s' is unknown; choices are ndjson, csv%s"
                                    .formatted(word, moreWords));
            };
        }
        String name = file.toLowerCase(Locale.ROOT).replaceFirst("\\.gz$", "");
        if (name.endsWith(".csv")) {
            return CSV;
        }
        if (name.endsWith(".ndjson") || name.endsWith(".jsonl") || name.endsWith(".json")) {
            return NDJSON;
        }
        throw new InvalidRequestException(
                "the name '%s' does not say how the file is written: add --format ndjson or --format csv%s"
                        .formatted(file, moreAdvice));
    }

    /**
     * The character that an option gives.
     *
     * @param given null for a comma
     */
    static char separator(@Nullable String given) {
        if (given != null && given.length() != 1) {
            throw new InvalidRequestException(
                    "--separator must be one character, not '%s'".formatted(given));
        }
        return CsvFormat.checkSeparator(given == null ? ',' : given.charAt(0));
    }
}
