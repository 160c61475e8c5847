package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.FeedCatalog;
import io.turbidite.core.catalog.FeedDescription;
import io.turbidite.core.catalog.FeedOption;
import io.turbidite.core.catalog.FeedRefusedException;
import io.turbidite.ops.sql.Definitions.Defining;
import io.turbidite.ops.sql.Tokens.Token;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads the statements that define, start and end feeds. What is wrong in a definition is told at
 * the option that has it. <em>Confined to one thread.</em>
 */
final class FeedStatements {
    private final Catalog catalog;
    private final Tokens tokens;

    FeedStatements(Catalog catalog, Tokens tokens) {
        this.catalog = catalog;
        this.tokens = tokens;
    }

    /** What is done to a feed that is there. */
    enum Deed {
        DROP {
            @Override
            void run(FeedCatalog feeds, String name) {
                feeds.drop(name);
            }
        },
        START {
            @Override
            void run(FeedCatalog feeds, String name) {
                feeds.start(name);
            }
        },
        STOP {
            @Override
            void run(FeedCatalog feeds, String name) {
                feeds.stop(name);
            }
        };

        abstract void run(FeedCatalog feeds, String name);

        /** The first word of the statement. */
        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The feeds of a store.
     *
     * @param asked who asks for them
     */
    static FeedCatalog feeds(Catalog catalog, Tokens tokens, Token asked) {
        try {
            return catalog.feeds();
        } catch (InvalidRequestException e) {
            throw tokens.at(String.valueOf(e.getMessage()), asked);
        }
    }

    /** That there is no such feed. */
    static SqlException missing(FeedCatalog feeds, Tokens tokens, Token name) {
        List<String> names = feeds.feeds().stream().map(FeedDescription::name).toList();
        return tokens.at(
                "there is no feed '%s'%s"
                        .formatted(name.text(), NearestName.hint(name.text(), names)),
                name);
    }

    /** {@code DROP FEED IF EXISTS name}, {@code START FEED name}, {@code STOP FEED name}. */
    Effect does(Deed deed) {
        tokens.require(deed.word());
        tokens.require("feed");
        boolean isIfThere = deed == Deed.DROP && Definitions.takesIf(tokens, false);
        Token name = tokens.name("a name");
        tokens.end();
        return defining(name, Map.of(), () -> {
            FeedCatalog feeds = catalog.feeds();
            if (feeds.has(name.text())) {
                deed.run(feeds, name.text());
            } else if (!isIfThere) {
                throw missing(feeds, tokens, name);
            }
        });
    }

    /** {@code IF NOT EXISTS name WITH (key.key = value, …)}, behind {@code CREATE FEED}. */
    Effect create() {
        boolean isIfMissing = Definitions.takesIf(tokens, true);
        Token name = tokens.name("a name");
        tokens.require("with");
        tokens.requireSign("(");
        Map<List<String>, Token> places = new LinkedHashMap<>();
        List<FeedOption> options = new ArrayList<>();
        do {
            Token place = tokens.peek();
            List<String> path = path();
            tokens.requireSign("=");
            if (path.equals(List.of("feed"))) {
                throw tokens.at("the name of a feed stands before WITH", place);
            }
            if (places.put(path, place) != null) {
                throw tokens.at(
                        "option '%s' is given twice".formatted(String.join(".", path)), place);
            }
            options.add(option(path));
        } while (tokens.takesSign(","));
        tokens.requireSign(")");
        tokens.end();
        return defining(name, places, () -> {
            FeedCatalog feeds = catalog.feeds();
            if (!isIfMissing || !feeds.has(name.text())) {
                feeds.create(name.text(), options);
            }
        });
    }

    private List<String> path() {
        List<String> path = new ArrayList<>();
        do {
            boolean isNumber = !path.isEmpty() && tokens.peek().kind() == Tokens.Kind.NUMBER;
            path.add((isNumber ? tokens.next() : tokens.name("an option")).text());
        } while (tokens.takesSign("."));
        return path;
    }

    private FeedOption option(List<String> path) {
        @Nullable Token value = tokens.value();
        boolean isText = value == null
                ? tokens.peek().kind() == Tokens.Kind.QUOTED_NAME
                : value.kind() == Tokens.Kind.TEXT;
        return new FeedOption(path, (value == null ? tokens.name("a word") : value).text(), isText);
    }

    private Defining defining(Token name, Map<List<String>, Token> places, Runnable work) {
        return new Defining(
                () -> {
                    try {
                        work.run();
                    } catch (FeedRefusedException e) {
                        String key = e.problems().getFirst().key();
                        throw tokens.at(String.valueOf(e.getMessage()), place(name, places, key));
                    }
                },
                message -> tokens.at(message, name));
    }

    /** Where the longest part of a key was given; else the feed's name. */
    private static Token place(Token name, Map<List<String>, Token> places, String key) {
        Token place = name;
        int longest = 0;
        for (Map.Entry<List<String>, Token> one : places.entrySet()) {
            String option = String.join(".", one.getKey());
            boolean isAbove = key.startsWith(option)
                    && (key.length() == option.length()
                            || key.charAt(option.length()) == '.'
                            || key.charAt(option.length()) == '[');
            if (isAbove && option.length() > longest) {
                place = one.getValue();
                longest = option.length();
            }
        }
        return place;
    }
}
