package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The kinds of operators that are there, by name. Static, without state. */
final class OperatorKinds {
    static final String RESULT = "result";

    static final Map<String, OperatorKind> BUILT_IN = builtIn();

    private OperatorKinds() {}

    private static Map<String, OperatorKind> builtIn() {
        Map<String, OperatorKind> kinds = new LinkedHashMap<>();
        for (QueryKind kind : QueryKind.values()) {
            kinds.put(kind.label(), kind);
        }
        kinds.put("values", new ValuesOperator());
        kinds.put("join", new JoinOperator());
        kinds.put("union", new UnionOperator());
        for (SinkKind kind : SinkKind.values()) {
            kinds.put(kind.label(), kind);
        }
        kinds.put(RESULT, new ResultOperator());
        return Collections.unmodifiableMap(kinds);
    }

    /** Rows that the graph has in itself. */
    static final class ValuesOperator implements OperatorKind {
        @Override
        public List<String> settings() {
            return List.of("fields", "rows");
        }

        @Override
        public int inputsMin() {
            return 0;
        }

        @Override
        public int inputsMax() {
            return 0;
        }

        @Override
        public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
            RecordType type = declared(settings);
            var _ = encoded(settings, type);
            return type;
        }

        @Override
        public void checkPartitions(Settings settings, List<Layout> inputs) {
            if (settings.operator().partitions() > 1) {
                throw settings.wrong("values are on one partition");
            }
        }

        private static RecordType declared(Settings settings) {
            RecordType.Builder type = RecordType.builder();
            settings.map("fields").forEach((name, label) -> {
                if (!(label instanceof String text)) {
                    throw settings.wrong("field '%s' needs a type as text".formatted(name));
                }
                type.field(String.valueOf(name), text);
            });
            return type.build();
        }

        /** The rows as records. */
        static List<Slice> encoded(Settings settings, RecordType type) {
            RecordWriter writer = new RecordWriter(type);
            List<Slice> rows = new ArrayList<>();
            for (Map<?, ?> row : settings.maps("rows")) {
                byte[] json = GraphJson.text(row).getBytes(StandardCharsets.UTF_8);
                try {
                    rows.add(Slice.of(writer.writeJson(Slice.of(json)).toByteArray()));
                } catch (InvalidRequestException e) {
                    throw settings.wrong("row %d: %s".formatted(rows.size() + 1, e.getMessage()));
                }
            }
            return rows;
        }

        @Override
        public String detail(Settings settings) {
            int count = settings.maps("rows").size();
            return count == 1 ? "1 row" : count + " rows";
        }
    }

    /** All rows of its inputs, in no order. */
    static final class UnionOperator implements OperatorKind {
        @Override
        public List<String> settings() {
            return List.of();
        }

        @Override
        public int inputsMin() {
            return 2;
        }

        @Override
        public int inputsMax() {
            return INPUTS_MAX;
        }

        @Override
        public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
            for (int i = 1; i < inputs.size(); i++) {
                if (!inputs.get(i).equals(inputs.getFirst())) {
                    throw settings.wrong("the rows of input %d are %s, and those of input 0 %s"
                            .formatted(i, inputs.get(i), inputs.getFirst()));
                }
            }
            return inputs.getFirst();
        }
    }

    /** What the user reads. */
    static final class ResultOperator implements OperatorKind {
        @Override
        public List<String> settings() {
            return List.of();
        }

        @Override
        public boolean hasOutput() {
            return false;
        }

        @Override
        public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
            return inputs.getFirst();
        }

        @Override
        public void checkPartitions(Settings settings, List<Layout> inputs) {
            if (settings.operator().partitions() > 1) {
                throw settings.wrong("a result is on one partition");
            }
        }
    }

    /** One of the embedder's. */
    record OwnOperator(Supplier<? extends RowOperator> maker) implements OperatorKind {
        @Override
        public List<String> settings() {
            return List.of();
        }

        @Override
        public int inputsMin() {
            return 0;
        }

        @Override
        public int inputsMax() {
            return INPUTS_MAX;
        }

        @Override
        public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
            try (RowOperator operator = maker.get()) {
                return operator.type(inputs, settings.operator().settings());
            }
        }
    }
}
