package io.turbidite.feeds.command.store;

import io.turbidite.core.scan.ReadView;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.Words;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.ops.FieldStatistics;

import org.jspecify.annotations.Nullable;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What {@code inspect --statistics} prints. Static, without state. */
final class StatisticsReport {
    /** Longer values are cut in the text, not in the JSON. */
    private static final int VALUE_LENGTH_MAX = 24;

    private static final int SHOWN_MAX = 3;

    private StatisticsReport() {}

    static void print(Store store, boolean json, PrintStream out) {
        List<Map<String, @Nullable Object>> datasets = new ArrayList<>();
        for (Dataset dataset : store.datasets()) {
            try (ReadView view = dataset.openView()) {
                if (json) {
                    datasets.add(toMap(dataset, view));
                } else {
                    print(dataset, view, out);
                }
            }
        }
        if (json) {
            out.println(Json.text(Json.line().put("datasets", datasets).toMap()));
        }
    }

    private static Map<String, @Nullable Object> toMap(Dataset dataset, ReadView view) {
        return Json.line()
                .put("name", dataset.name())
                .put("records", FieldStatistics.records(view))
                .put("sampled", view.sample().size())
                .put(
                        "fields",
                        FieldStatistics.of(view).stream()
                                .map(StatisticsReport::toMap)
                                .toList())
                .toMap();
    }

    private static Map<String, @Nullable Object> toMap(FieldStatistics field) {
        return Json.line()
                .put("field", field.field())
                .put("absent", field.absentShare())
                .put("distinct", field.distinct())
                .put("min", field.min())
                .put("max", field.max())
                .put(
                        "frequent",
                        field.frequent().stream()
                                .map(one -> Json.line()
                                        .put("value", one.value())
                                        .put("share", one.share())
                                        .toMap())
                                .toList())
                .toMap();
    }

    private static void print(Dataset dataset, ReadView view, PrintStream out) {
        int sampled = view.sample().size();
        out.printf(
                Locale.ROOT,
                "%s: about %s, a sample of %,d%n",
                dataset.name(),
                Words.count(FieldStatistics.records(view), "record"),
                sampled);
        if (sampled == 0) {
            out.println(
                    "  no component has a sample: a flush or a merge of a megabyte or more makes one");
            return;
        }
        for (FieldStatistics field : FieldStatistics.of(view)) {
            String absent = field.absentShare() == 0
                    ? ""
                    : String.format(Locale.ROOT, ", %.1f %% absent", 100 * field.absentShare());
            out.printf(
                    Locale.ROOT,
                    "  %s: about %s%s%s%s%n",
                    field.field(),
                    Words.count(field.distinct(), "value"),
                    absent,
                    field.min() == null
                            ? ""
                            : ", %s to %s".formatted(shown(field.min()), shown(field.max())),
                    frequent(field));
        }
    }

    private static String frequent(FieldStatistics field) {
        return field.frequent().isEmpty()
                ? ""
                : field.frequent().stream()
                        .limit(SHOWN_MAX)
                        .map(one -> String.format(
                                Locale.ROOT, "%s %.1f %%", shown(one.value()), 100 * one.share()))
                        .collect(Collectors.joining(", ", "; most often ", ""));
    }

    private static String shown(@Nullable Object value) {
        String text = String.valueOf(value).replaceAll("\\p{Cntrl}", " ");
        return text.length() <= VALUE_LENGTH_MAX
                ? text
                : text.substring(0, VALUE_LENGTH_MAX - 1) + "…";
    }
}
