package io.turbidite.feeds;

import io.turbidite.feeds.FeedDefinition.Origin;
import io.turbidite.feeds.FeedDefinition.SourcePart;
import io.turbidite.feeds.YamlNode.Mapping;
import io.turbidite.feeds.log.LogPsfs;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.lsm.schema.Retention;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A feed whose records go into a hash log unchanged: a definition with {@code log:} in place of
 * {@code dataset:}. <em>Immutable.</em> {@code docs/feed-definition.md} lists its keys.
 *
 * @param feed its name
 * @param log where records go
 * @param source where records come from
 * @param origin where the parts of the definition are written
 */
public record LogFeedDefinition(String feed, LogPart log, SourcePart source, Origin origin) {
    static final String KEY = "log";

    /**
     * The log of the feed, created if there is none of its name.
     *
     * @param parser reads the records, one a line
     * @param psfs registered before the feed runs, unless they are already
     * @param retainBytes the most log bytes to keep
     * @param retainAge how long to keep segments, or null for ever
     * @param directIo whether to write and read segments past the page cache
     */
    public record LogPart(
            String name,
            ParserSpec parser,
            LogPsfs psfs,
            long retainBytes,
            @Nullable Retention retainAge,
            boolean directIo) {}

    /** Whether the definition in {@code file} is one for a log; makes no other check. */
    public static boolean isOfLog(Path file) {
        return YamlTree.read(file.toString(), FeedDefinition.read(file)) instanceof Mapping mapping
                && mapping.entries().containsKey(KEY);
    }

    /**
     * Reads a definition. Relative paths in it are relative to its file.
     *
     * @throws DefinitionException with every problem found, each with its line and key
     */
    public static LogFeedDefinition load(Path file) {
        Path directory = file.toAbsolutePath().getParent();
        DefinitionReader reader =
                new DefinitionReader(file.toString(), directory == null ? Path.of("") : directory);
        return reader.read(
                YamlTree.read(file.toString(), FeedDefinition.read(file)),
                root -> definition(reader, root));
    }

    private static @Nullable LogFeedDefinition definition(DefinitionReader reader, Section root) {
        String feed = DefinitionReader.name(root, "feed", "feed");
        LogPart log = log(root);
        SourcePart source = reader.sources().source(root);
        root.end();
        return feed == null || log == null || source == null
                ? null
                : new LogFeedDefinition(feed, log, source, reader.origin());
    }

    private static @Nullable LogPart log(Section root) {
        Section section = root.child(KEY);
        if (section == null) {
            return null;
        }
        String name = DefinitionReader.name(section, "name", KEY);
        String text = section.text("parser");
        ParserSpec parser = text == null
                ? new ParserSpec.Json()
                : section.convert("parser", text, ParserSpec::parse);
        if (parser instanceof ParserSpec.Binary) {
            section.problem("parser", "is binary, but records of a feed are lines of text");
        }
        LogPsfs psfs = psfs(section);
        Long retainBytes = section.bytes("retainBytes");
        if (retainBytes != null && retainBytes <= 0) {
            section.problem("retainBytes", "must be above 0");
        }
        Retention retainAge = DatasetReader.age(section);
        boolean directIo = section.truth("directIo", false);
        section.end();
        return name == null || parser == null || psfs == null
                ? null
                : new LogPart(
                        name,
                        parser,
                        psfs,
                        retainBytes == null ? Long.MAX_VALUE : retainBytes,
                        retainAge,
                        directIo);
    }

    private static @Nullable LogPsfs psfs(Section log) {
        Map<String, String> definitions = new LinkedHashMap<>();
        Section section = log.child("psfs");
        if (section == null) {
            return LogPsfs.parse(definitions);
        }
        boolean sound = true;
        for (String name : section.keys()) {
            String text = section.text(name);
            LogPsfs one = text == null
                    ? null
                    : section.convert(name, text, t -> LogPsfs.parse(Map.of(name, t)));
            if (text == null || one == null) {
                sound = false;
            } else {
                definitions.put(name, text);
            }
        }
        return sound ? LogPsfs.parse(definitions) : null;
    }
}
