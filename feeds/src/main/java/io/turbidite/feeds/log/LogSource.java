package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.LogCursor;
import io.turbidite.hashlog.LogQuery;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.ops.job.RowOperator;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The operator of a job that reads a hash log, newest first: all records, or those of a chain.
 *
 * <pre>{@code
 * JobParts parts = JobParts.of(store.datasets()).withOperator("log", LogSource.of(log));
 * JobOperator.of("events", "log")
 *         .with("psf", "type").with("value", "PushEvent").with("fields", Map.of("id", "int64"))
 * }</pre>
 *
 * <p>Settings, all optional:
 *
 * <ul>
 *   <li>{@code psf} and {@code value}: the records that a PSF has this value for, by its chain
 *       where it is indexed;
 *   <li>{@code where}: an expression of the log, which must be true too;
 *   <li>{@code limit}: most records;
 *   <li>{@code fields}: types by name. Rows are records of these fields then, as JSON has them;
 *       what else is in a record is in open fields. A record that lacks a required field, or has
 *       a value of another type, ends the job. Only of logs whose records are JSON. Without, rows
 *       have one field, {@code record}: the text as it came, or the bytes of binary records.
 * </ul>
 *
 * <p>It is on one partition. It shows what was visible when its first row was asked for. Records
 * that retention drops while it reads end the job. A job whose rows nobody reads on holds back the
 * log's memory, as an open cursor does. <em>Confined to one thread at a time.</em>
 */
public final class LogSource implements RowOperator {
    /** The field of rows that are not decoded. */
    public static final String RECORD = "record";

    private static final Set<String> SETTINGS = Set.of("psf", "value", "where", "limit", "fields");

    private final HashLog log;
    private final Slice bytes = new Slice();
    private boolean decodes;
    private boolean isText;
    private @Nullable RecordWriter writer;
    private @Nullable LogQuery query;
    private @Nullable LogCursor cursor;

    private LogSource(HashLog log) {
        this.log = log;
    }

    /**
     * Makes operators that read a log.
     *
     * @param log open for as long as jobs run
     */
    public static Supplier<LogSource> of(HashLog log) {
        return () -> new LogSource(log);
    }

    @Override
    public RecordType type(List<RecordType> inputs, Map<String, Object> settings) {
        if (!inputs.isEmpty()) {
            throw new InvalidRequestException("a log is a source: it takes no input");
        }
        for (String name : settings.keySet()) {
            if (!SETTINGS.contains(name)) {
                throw new InvalidRequestException(
                        "a log takes no setting '%s'; there are psf, value, where, limit, fields"
                                .formatted(name));
            }
        }
        query = query(settings);
        RecordType type = rowType(settings);
        writer = new RecordWriter(type);
        return type;
    }

    private LogQuery query(Map<String, Object> settings) {
        String psf = text(settings, "psf");
        String value = text(settings, "value");
        if ((psf == null) != (value == null)) {
            throw new InvalidRequestException("'psf' and 'value' are given together");
        }
        LogQuery asked =
                psf == null || value == null ? LogQuery.all() : LogQuery.property(psf, value);
        String where = text(settings, "where");
        if (where != null) {
            asked = asked.where(where);
        }
        return switch (settings.get("limit")) {
            case null -> asked;
            case Long limit when limit >= 0 -> asked.limit(limit);
            case Object _ ->
                throw new InvalidRequestException("'limit' must be a whole number of 0 or more");
        };
    }

    private static @Nullable String text(Map<String, Object> settings, String name) {
        return switch (settings.get(name)) {
            case null -> null;
            case String text -> text;
            case Object _ ->
                throw new InvalidRequestException("'%s' must be a text".formatted(name));
        };
    }

    private RecordType rowType(Map<String, Object> settings) {
        Object fields = settings.get("fields");
        decodes = fields != null;
        RecordType.Builder type = RecordType.builder();
        if (fields == null) {
            isText = !(log.parser() instanceof ParserSpec.Binary);
            return type.field(RECORD, isText ? "string" : "binary").build();
        }
        if (!(fields instanceof Map<?, ?> map) || map.isEmpty()) {
            throw new InvalidRequestException("'fields' must be types by name");
        }
        if (!(log.parser() instanceof ParserSpec.Json)) {
            throw new InvalidRequestException(
                    "the records of the log are %s: only JSON has 'fields', leave them out and rows have the text"
                            .formatted(log.parser().text()));
        }
        map.forEach((name, label) -> {
            if (!(label instanceof String text)) {
                throw new InvalidRequestException(
                        "field '%s' needs a type as text".formatted(name));
            }
            type.field(String.valueOf(name), text);
        });
        return type.build();
    }

    @Override
    public void open(int partition, int partitionCount) {
        if (partitionCount > 1) {
            throw new InvalidRequestException("a log is read on one partition");
        }
        cursor = log.find(Objects.requireNonNull(query, "its type is asked for first"));
    }

    @Override
    public void row(int input, RecordView row) {
        throw new IllegalStateException("a log has no input");
    }

    @Override
    public @Nullable Slice next() {
        LogCursor records = cursor;
        if (records == null) {
            return null;
        }
        if (records.next()) {
            bytes.set(records.segment(), records.offset(), records.length());
            return row(records);
        }
        if (records.isTruncated()) {
            throw new InvalidRequestException(
                    "records of the log were dropped before they were read");
        }
        return null;
    }

    private @Nullable Slice row(LogCursor at) {
        RecordWriter to = writer;
        if (to == null) {
            return null;
        }
        try {
            if (decodes) {
                return to.writeJson(bytes);
            }
            to.begin();
            if (isText) {
                to.setString(0, bytes);
            } else {
                to.setBinary(0, bytes);
            }
            return to.finish();
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "the record at %d of the log: %s".formatted(at.address(), e.getMessage()), e);
        }
    }

    @Override
    public void close() {
        LogCursor open = cursor;
        cursor = null;
        if (open != null) {
            open.close();
        }
    }
}
