package io.turbidite.ops.sql;

import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.FeedCatalog;
import io.turbidite.core.catalog.FeedDescription;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Relation;
import io.turbidite.ops.Values;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads the statements that list what there is: {@code SHOW} and {@code DESCRIBE}. Static. */
final class Listings {
    /** The first words of such statements. */
    static final Set<String> FIRST_WORDS = Set.of("show", "describe", "desc");

    private static final RecordType DATASETS = RecordType.builder()
            .field("dataset", "string")
            .field("primary_key", "string")
            .field("filter", "string?")
            .field("partitions", "int32")
            .field("options", "string")
            .build();

    private static final RecordType INDEXES = RecordType.builder()
            .field("dataset", "string")
            .field("index", "string")
            .field("kind", "string")
            .field("fields", "string")
            .field("unique", "bool")
            .field("options", "string")
            .field("state", "string")
            .build();

    private static final RecordType FIELDS = RecordType.builder()
            .field("field", "string")
            .field("type", "string")
            .field("sql", "string")
            .field("role", "string?")
            .build();

    private static final RecordType FEEDS = RecordType.builder()
            .field("feed", "string")
            .field("dataset", "string?")
            .field("state", "string")
            .field("since", "datetime")
            .field("records", "int64")
            .field("rejected", "int64")
            .field("dropped", "int64")
            .field("cause", "string?")
            .build();

    private static final RecordType KEYS =
            RecordType.builder().field("key", "string").field("value", "string").build();

    private Listings() {}

    /** The rows of a statement. */
    static Relation of(Catalog catalog, StatementText text) {
        Tokens tokens = new Tokens(text.query(), text.whole());
        if (tokens.takes("show")) {
            if (tokens.takes("datasets")) {
                tokens.end();
                return datasets(catalog);
            }
            Tokens.Token word = tokens.peek();
            if (tokens.takes("feeds")) {
                tokens.end();
                return feeds(FeedStatements.feeds(catalog, tokens, word));
            }
            tokens.require("indexes");
            Tokens.Token of = tokens.takes("on") ? tokens.name("a dataset") : null;
            tokens.end();
            return indexes(
                    catalog,
                    of == null
                            ? List.copyOf(catalog.datasets())
                            : List.of(Targets.find(catalog, of.text(), m -> tokens.at(m, of))));
        }
        if (!tokens.takes("desc")) {
            tokens.require("describe");
        }
        Tokens.Token name = tokens.name("a dataset");
        if (name.text().equalsIgnoreCase("feed")
                && name.kind() == Tokens.Kind.WORD
                && tokens.peek().kind() != Tokens.Kind.END) {
            Tokens.Token feed = tokens.name("a feed");
            tokens.end();
            return keys(FeedStatements.feeds(catalog, tokens, feed), tokens, feed);
        }
        tokens.end();
        return fields(catalog, Targets.find(catalog, name.text(), m -> tokens.at(m, name)));
    }

    private static Relation datasets(Catalog catalog) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Source source : catalog.datasets()) {
            DatasetDefinition dataset = catalog.describe(source.name());
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("dataset", dataset.name());
            row.put("primary_key", String.join(", ", dataset.primaryKey()));
            row.put(
                    "filter",
                    dataset.filterFields().isEmpty()
                            ? null
                            : String.join(", ", dataset.filterFields()));
            row.put("partitions", dataset.partitions());
            row.put("options", text(dataset.options()));
            rows.add(row);
        }
        return Values.of(DATASETS, rows);
    }

    private static Relation feeds(FeedCatalog feeds) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (FeedDescription feed : feeds.feeds()) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("feed", feed.name());
            row.put("dataset", feed.dataset());
            row.put("state", feed.state());
            row.put("since", feed.since());
            row.put("records", feed.records());
            row.put("rejected", feed.rejected());
            row.put("dropped", feed.dropped());
            row.put("cause", feed.cause());
            rows.add(row);
        }
        return Values.of(FEEDS, rows);
    }

    private static Relation keys(FeedCatalog feeds, Tokens tokens, Tokens.Token feed) {
        if (feeds.feeds().stream().noneMatch(one -> one.name().equals(feed.text()))) {
            throw FeedStatements.missing(feeds, tokens, feed);
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        feeds.definition(feed.text())
                .forEach((key, value) -> rows.add(Map.of("key", key, "value", value)));
        return Values.of(KEYS, rows);
    }

    private static String text(Map<String, String> options) {
        return options.entrySet().stream()
                .map(option -> option.getKey() + " = " + option.getValue())
                .collect(Collectors.joining(", "));
    }

    private static Relation indexes(Catalog catalog, List<Source> sources) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Source source : sources) {
            for (IndexDefinition index : catalog.describe(source.name()).indexes()) {
                Map<String, @Nullable Object> row = new HashMap<>();
                row.put("dataset", source.name());
                row.put("index", index.name());
                row.put("kind", index.kind().label());
                row.put("fields", String.join(", ", index.fields()));
                row.put("unique", index.unique());
                row.put("options", text(index.options()));
                row.put("state", index.state());
                rows.add(row);
            }
        }
        return Values.of(INDEXES, rows);
    }

    private static Relation fields(Catalog catalog, Source source) {
        DatasetDefinition dataset = catalog.describe(source.name());
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Field field : dataset.type().fields()) {
            Map<String, @Nullable Object> row = new HashMap<>();
            row.put("field", field.name());
            row.put("type", field.typeLabel());
            row.put("sql", Types.label(field));
            row.put(
                    "role",
                    dataset.primaryKey().contains(field.name())
                            ? "primary key"
                            : dataset.filterFields().contains(field.name()) ? "filter" : null);
            rows.add(row);
        }
        return Values.of(FIELDS, rows);
    }
}
