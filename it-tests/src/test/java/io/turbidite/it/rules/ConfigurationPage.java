package io.turbidite.it.rules;

import io.turbidite.core.log.LogOptions;
import io.turbidite.hashlog.HashLogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.lsm.RuntimeOptions;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Option;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes {@code docs/configuration.md} from the Javadoc of the options' records, their defaults,
 * and the descriptions of the command's options. <em>Immutable.</em>
 *
 * <p>What an option is stands first in its {@code @param}; when to change it stands last, from the
 * first sentence on that begins as "Raise it", "Lower it", "Set it", "Change it" or "Leave it".
 */
final class ConfigurationPage {
    static final Path ROOT = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
    static final Path PAGE = ROOT.resolve("docs/configuration.md");

    private static final Pattern PARAMETER =
            Pattern.compile("\\* @param (\\w+) (.*?)(?=\\n \\* @|\\n \\*/)", Pattern.DOTALL);
    private static final Pattern WHEN = Pattern.compile("(?:Raise|Lower|Set|Change|Leave) it\\b");
    private static final Pattern TAG = Pattern.compile("\\{@(?:code|link) ([^}]*)}");
    private static final Pattern KEY =
            Pattern.compile("(?m)^\\| `(store|dataset)\\.(\\w+)` \\| [^|]*\\| ([^|]*) \\|");

    /**
     * A record of options.
     *
     * @param section of a feed definition that has options of it; empty: none
     */
    record Group(String title, Record defaults, String source, String section, String about) {}

    /**
     * An option of a record.
     *
     * @param when to change it; empty for what has a group of its own
     */
    record Setting(String name, @Nullable Object value, Class<?> type, String what, String when) {}

    private ConfigurationPage() {}

    /** In the order of the page. */
    static List<Group> groups() {
        String lsm = "storage-lsm/src/main/java/io/turbidite/lsm/";
        String hashlog = "storage-hashlog/src/main/java/io/turbidite/hashlog/";
        return List.of(
                new Group(
                        "A store",
                        StoreOptions.defaults(),
                        lsm + "StoreOptions.java",
                        "store",
                        "`Store.open(directory, options)`."),
                new Group(
                        "Background work",
                        BackgroundOptions.defaults(),
                        lsm + "schedule/BackgroundOptions.java",
                        "store",
                        "`StoreOptions.background`."),
                new Group(
                        "The log of a store",
                        LogOptions.defaults(),
                        "storage-core/src/main/java/io/turbidite/core/log/LogOptions.java",
                        "store",
                        "`StoreOptions.log`."),
                new Group(
                        "Several stores in one process",
                        RuntimeOptions.defaults(),
                        lsm + "RuntimeOptions.java",
                        "",
                        "`StoreRuntime.create(options)`."),
                new Group(
                        "A dataset",
                        DatasetOptions.defaults(),
                        lsm + "schema/DatasetOptions.java",
                        "dataset",
                        "`DatasetSpec`; chosen when the dataset is created, and kept."),
                new Group(
                        "Components",
                        ComponentOptions.primary(),
                        lsm + "component/ComponentOptions.java",
                        "",
                        "`DatasetSpec.components`."),
                new Group(
                        "Pages",
                        PageOptions.standard(),
                        lsm + "component/PageOptions.java",
                        "dataset",
                        "`ComponentOptions.withPages`, and `IndexSpec.withPages` for one index."),
                new Group(
                        "A query",
                        RunOptions.defaults(),
                        "query-ops/src/main/java/io/turbidite/ops/run/RunOptions.java",
                        "",
                        "`Query.run` and `Sql` take them."),
                new Group(
                        "A hash log",
                        HashLogOptions.defaults(),
                        hashlog + "HashLogOptions.java",
                        "",
                        "`HashLog.open`."),
                new Group(
                        "The pages of a hash log",
                        LogShape.defaults(),
                        hashlog + "log/LogShape.java",
                        "",
                        "The shape of a hash log."),
                new Group(
                        "The log of a hash log",
                        io.turbidite.hashlog.log.LogOptions.defaults(),
                        hashlog + "log/LogOptions.java",
                        "",
                        "`HashLogOptions.log`."));
    }

    /** The options of a group, those that the store alone sets left out. */
    static List<Setting> settings(Group group) throws IOException {
        Map<String, String> texts = new TreeMap<>();
        String javadoc = Files.readString(ROOT.resolve(group.source()));
        String head = javadoc.substring(0, javadoc.indexOf("public record "));
        Matcher parameter = PARAMETER.matcher(head);
        while (parameter.find()) {
            texts.put(
                    parameter.group(1),
                    parameter.group(2).replaceAll("\\s*\\n \\*\\s*", " ").strip());
        }
        List<Setting> settings = new ArrayList<>();
        for (RecordComponent component : group.defaults().getClass().getRecordComponents()) {
            if (!List.of("tokens", "boxes").contains(component.getName())) {
                settings.add(setting(component, group.defaults(), texts));
            }
        }
        return settings;
    }

    private static Setting setting(
            RecordComponent component, Record defaults, Map<String, String> texts) {
        String name = component.getName();
        String text = Objects.requireNonNull(texts.get(name), name + " has no @param");
        Matcher when = WHEN.matcher(text);
        int split = when.find() ? when.start() : text.length();
        try {
            return new Setting(
                    name,
                    component.getAccessor().invoke(defaults),
                    component.getType(),
                    text.substring(0, split).strip().replaceFirst("\\.$", ""),
                    text.substring(split).strip().replaceFirst("\\.$", ""));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }

    /** Defaults of a feed definition's keys, as {@code docs/feed-definition.md} gives them. */
    static Map<String, String> keys() throws IOException {
        Map<String, String> keys = new TreeMap<>();
        Matcher key = KEY.matcher(Files.readString(ROOT.resolve("docs/feed-definition.md")));
        while (key.find()) {
            keys.put(
                    key.group(1) + "." + key.group(2),
                    key.group(3).replace("`", "").strip());
        }
        return keys;
    }

    /** A default as people write it. */
    static String shown(String name, @Nullable Object value) {
        return switch (value) {
            case null -> "none";
            case Long number when number == Long.MAX_VALUE -> "no limit";
            case Number number when name.contains("Bytes") -> bytes(number.longValue());
            case Number number when name.contains("Micros") -> micros(number.longValue());
            case Number number when number instanceof Double -> number.toString();
            case Number number -> String.format(Locale.ROOT, "%,d", number.longValue());
            case Boolean truth -> truth.toString();
            case Enum<?> one -> one.name().toLowerCase(Locale.ROOT).replace('_', '-');
            case io.turbidite.lsm.merge.MergePolicySpec policy -> policy.toString();
            case io.turbidite.hashlog.parse.ParserSpec.Json json -> "json";
            default -> "none";
        };
    }

    private static String bytes(long bytes) {
        long unit = bytes;
        for (String label : List.of("", " KiB", " MiB", " GiB")) {
            if (unit == 0 || unit % 1024 != 0 || label.equals(" GiB")) {
                return String.format(Locale.ROOT, "%,d%s", unit, label);
            }
            unit /= 1024;
        }
        throw new AssertionError(bytes);
    }

    private static String micros(long micros) {
        return micros % 1_000_000 == 0
                ? micros / 1_000_000 + " s"
                : micros % 1_000 == 0 ? micros / 1_000 + " ms" : micros + " µs";
    }

    /** The whole page. */
    static String write() throws IOException {
        StringBuilder page = new StringBuilder("""
                # Configuration

                Every option with its default, its range, and when to change it. The defaults are good to begin with: change what a figure tells you to
                ([what to watch](operating.md#what-to-watch)). This page is written from the descriptions of the options in the code, and a test
                (`ConfigurationTest`) compares both and tries the ranges. A value out of range is refused with an error that names the option.

                In Java each record of options has `defaults()`, `builder()` or `with…` methods. A key such as `store.cacheBytes` sets the same in a
                [feed definition](feed-definition.md).
                """);
        Map<String, String> keys = keys();
        List<Group> groups = groups();
        for (Group group : groups) {
            String type = group.defaults().getClass().getSimpleName();
            page.append("\n## ")
                    .append(group.title())
                    .append("\n\n[`")
                    .append(type)
                    .append("`](../")
                    .append(group.source())
                    .append("): ")
                    .append(group.about())
                    .append(
                            "\n\n| option | default | what it is, and its range | when to change it |\n|---|---|---|---|\n");
            for (Setting setting : settings(group)) {
                String key = group.section() + "." + setting.name();
                page.append("| `%s`%s | %s | %s | %s |\n"
                        .formatted(
                                setting.name(),
                                keys.containsKey(key) ? "<br>`" + key + "`" : "",
                                isGroup(groups, setting)
                                        ? "below"
                                        : "`" + shown(setting.name(), setting.value()) + "`",
                                markdown(setting.what()),
                                markdown(setting.when())));
            }
        }
        return page.append(served()).append(Tail.TEXT).toString();
    }

    static boolean isGroup(List<Group> groups, Setting setting) {
        return groups.stream().anyMatch(group -> group.defaults().getClass() == setting.type());
    }

    private static String markdown(String javadoc) {
        return TAG.matcher(javadoc)
                .replaceAll(tag -> {
                    String name = tag.group(1)
                            .replaceFirst("^(?:[a-z]+\\.)+(?=[A-Z])", "")
                            .replace('#', '.');
                    return name.equals("Long.MAX_VALUE") ? "The largest `long`" : "`" + name + "`";
                })
                .replace("docs/choosing.md", "[choosing](choosing.md)")
                .replace("|", "\\|");
    }

    /** The options of {@code ./turbidite serve} that say how it listens. */
    private static String served() {
        StringBuilder rows = new StringBuilder("""

                ## The server

                `./turbidite serve STORE…`. [The server](server.md) says more of each.

                | option | what it is |
                |---|---|
                """);
        try {
            Class<?> options = Class.forName("io.turbidite.feeds.command.server.ServeOptions");
            for (Field field : options.getDeclaredFields()) {
                Option option = field.getAnnotation(Option.class);
                if (option != null) {
                    rows.append("| `%s` | %s |\n"
                            .formatted(
                                    (String.join(", ", option.names()) + " " + option.paramLabel())
                                            .strip(),
                                    Arrays.stream(option.description())
                                            .reduce("", String::concat)
                                            .replaceFirst("\\.$", "")));
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("options of the server", e);
        }
        return rows.toString();
    }

    /** What no record has. */
    private static final class Tail {
        static final String TEXT = """

                ## The environment of the command

                | variable | what it is |
                |---|---|
                | `JAVA_HOME`, `JDK25_HOME` | where a Java 25 or newer is, if the distribution brings none |
                | `TURBIDITE_JAVA_OPTS` | options for the JVM: `-Xmx4g` |
                | `TURBIDITE_CACHE` | the [cache of classes](installing.md#the-cache-of-classes): not set, `wait` or `off` |
                """;
    }
}
