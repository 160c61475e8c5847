package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.sql.Tokens.Token;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Reads the statements that define: {@code CREATE} and {@code DROP} of datasets and indexes; those
 * of feeds are {@link FeedStatements}.
 * <em>Confined to one thread.</em>
 */
final class Definitions {
    /** The first words of such statements. */
    static final Set<String> FIRST_WORDS = Set.of("create", "drop", "start", "stop");

    private final Catalog catalog;
    private final Tokens tokens;

    private Definitions(Catalog catalog, Tokens tokens) {
        this.catalog = catalog;
        this.tokens = tokens;
    }

    /** What a statement defines. */
    static Effect of(Catalog catalog, StatementText text) {
        return new Definitions(catalog, new Tokens(text.query(), text.whole())).read();
    }

    /** A definition; it changes no record. */
    record Defining(Runnable work, Function<String, SqlException> wrong) implements Effect {
        @Override
        public @Nullable Planned rows() {
            return null;
        }

        @Override
        public void apply(RunOptions options, @Nullable Object[] checked, ChangedCount count) {
            options.checkNotStopped();
            try {
                work.run();
            } catch (InvalidRequestException e) {
                // those of a kind of their own say more than a place
                if (e.getClass().equals(InvalidRequestException.class)) {
                    throw wrong.apply(String.valueOf(e.getMessage()));
                }
                throw e;
            }
        }
    }

    private Defining defining(Token name, Runnable work) {
        return new Defining(work, message -> tokens.at(message, name));
    }

    private Effect read() {
        if (tokens.takes("create")) {
            if (tokens.takes("dataset")) {
                return dataset();
            }
            if (tokens.takes("feed")) {
                return new FeedStatements(catalog, tokens).create();
            }
            boolean isUnique = tokens.takes("unique");
            if (tokens.takes("index")) {
                return index(isUnique);
            }
            throw tokens.wrong();
        }
        for (FeedStatements.Deed deed : FeedStatements.Deed.values()) {
            if (tokens.isNext(deed.word(), "feed")) {
                return new FeedStatements(catalog, tokens).does(deed);
            }
        }
        if (tokens.takes("start") || tokens.takes("stop")) {
            tokens.require("feed");
        }
        tokens.require("drop");
        tokens.expect("FEED");
        if (tokens.takes("dataset")) {
            return dropDataset();
        }
        tokens.require("index");
        return dropIndex();
    }

    private Effect dropDataset() {
        boolean isIfThere = takesIf(tokens, false);
        Token name = tokens.name("a name");
        tokens.end();
        return defining(name, () -> {
            if (!isIfThere || find(name.text()) != null) {
                catalog.dropDataset(name.text());
            }
        });
    }

    private Effect dropIndex() {
        boolean isIfThere = takesIf(tokens, false);
        Token name = tokens.name("a name");
        tokens.require("on");
        String dataset = tokens.name("a dataset").text();
        tokens.end();
        return defining(name, () -> {
            if (!isIfThere || hasIndex(dataset, name.text())) {
                catalog.dropIndex(dataset, name.text());
            }
        });
    }

    /** Takes {@code IF EXISTS} or {@code IF NOT EXISTS}. */
    static boolean takesIf(Tokens tokens, boolean isNot) {
        if (!tokens.takes("if")) {
            return false;
        }
        if (isNot) {
            tokens.require("not");
        }
        tokens.require("exists");
        return true;
    }

    private @Nullable Source find(String dataset) {
        return catalog.datasets().stream()
                .filter(one -> one.name().equals(dataset))
                .findFirst()
                .orElse(null);
    }

    private boolean hasIndex(String dataset, String index) {
        return find(dataset) != null
                && catalog.describe(dataset).indexes().stream()
                        .anyMatch(one -> one.name().equals(index));
    }

    /**
     * {@code name (field type, …, PRIMARY KEY (field, …)) FILTER (field) PARTITIONS n WITH (…)}.
     */
    private Effect dataset() {
        boolean isIfMissing = takesIf(tokens, true);
        Token name = tokens.name("a name");
        tokens.requireSign("(");
        List<Field> fields = new ArrayList<>();
        Set<String> unsaid = new HashSet<>();
        List<String> primaryKey = List.of();
        do {
            Token place = tokens.peek();
            boolean isKeyToo = !primaryKey.isEmpty();
            if (takesPrimaryKey()) {
                primaryKey = fields("a field");
            } else {
                ColumnReader column = new ColumnReader(tokens);
                Field field = column.read();
                fields.add(field);
                if (column.isNullableUnsaid()) {
                    unsaid.add(field.name());
                }
                if (!column.isKey()) {
                    continue;
                }
                primaryKey = List.of(field.name());
            }
            if (isKeyToo) {
                throw tokens.at("the primary key is given twice", place);
            }
        } while (tokens.takesSign(","));
        tokens.requireSign(")");
        List<String> filter = tokens.takes("filter") ? fields("a field") : List.of();
        int partitions = 1;
        if (tokens.takes("partitions")) {
            partitions = tokens.number();
        }
        Map<String, String> options = options();
        tokens.end();
        if (primaryKey.isEmpty()) {
            throw tokens.at(
                    "dataset %s has no primary key; write PRIMARY KEY (field) behind its fields"
                            .formatted(name.text()),
                    name);
        }
        Set<String> key = Set.copyOf(primaryKey);
        fields.replaceAll(field -> unsaid.contains(field.name()) && key.contains(field.name())
                ? field.as(field.name(), false)
                : field);
        RecordType type = checked(name, () -> RecordType.of(fields));
        DatasetDefinition definition = new DatasetDefinition(
                name.text(), type, primaryKey, filter, partitions, options, List.of());
        return defining(name, () -> {
            if (!isIfMissing || find(name.text()) == null) {
                catalog.createDataset(definition);
            }
        });
    }

    /** A field may be called {@code primary}: what follows tells. */
    private boolean takesPrimaryKey() {
        if (!tokens.isNext("primary", "key")) {
            tokens.expect("PRIMARY KEY");
            return false;
        }
        tokens.require("primary");
        tokens.require("key");
        return true;
    }

    /** What is refused is at a token. */
    private <T> T checked(Token place, Supplier<T> made) {
        try {
            return made.get();
        } catch (InvalidRequestException e) {
            throw tokens.at(String.valueOf(e.getMessage()), place);
        }
    }

    /** Paths in parentheses. */
    private List<String> fields(String what) {
        List<String> paths = new ArrayList<>();
        tokens.requireSign("(");
        do {
            StringBuilder path = new StringBuilder(tokens.name(what).text());
            while (tokens.takesSign(".")) {
                path.append('.').append(tokens.name(what).text());
            }
            if (tokens.takesSign("[")) {
                tokens.requireSign("]");
                path.append(RecordType.EACH);
            }
            paths.add(path.toString());
        } while (tokens.takesSign(","));
        tokens.requireSign(")");
        return paths;
    }

    /** {@code WITH (key = value, …)}: the keys of feed definitions. */
    private Map<String, String> options() {
        Map<String, String> options = new LinkedHashMap<>();
        if (!tokens.takes("with")) {
            return options;
        }
        tokens.requireSign("(");
        do {
            Token key = tokens.name("an option");
            tokens.requireSign("=");
            Token value = tokens.value();
            String text = value == null ? tokens.name("a word").text() : value.text();
            if (options.put(key.text(), text) != null) {
                throw tokens.at("option '%s' is given twice".formatted(key.text()), key);
            }
        } while (tokens.takesSign(","));
        tokens.requireSign(")");
        return options;
    }

    /** {@code name ON dataset (field, …) USING kind WITH (…)}. */
    private Effect index(boolean isUnique) {
        boolean isIfMissing = takesIf(tokens, true);
        Token name = tokens.name("a name");
        tokens.require("on");
        Token dataset = tokens.name("a dataset");
        List<String> fields = fields("a field");
        IndexDescription.Kind kind = IndexDescription.Kind.BTREE;
        if (tokens.takes("using")) {
            Token label = tokens.name("a kind");
            kind = checked(label, () -> IndexDescription.Kind.of(label.text()));
        }
        Map<String, String> options = options();
        tokens.end();
        var _ = Targets.find(catalog, dataset.text(), message -> tokens.at(message, dataset));
        IndexDefinition definition = new IndexDefinition(
                name.text(), kind, fields, isUnique, options, IndexDefinition.READY);
        return defining(name, () -> {
            if (!isIfMissing || !hasIndex(dataset.text(), name.text())) {
                catalog.createIndex(dataset.text(), definition);
            }
        });
    }
}
