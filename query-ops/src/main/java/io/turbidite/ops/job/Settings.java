package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads the settings of one operator; every complaint names it. <em>Immutable.</em> */
final class Settings {
    private final JobOperator operator;

    Settings(JobOperator operator) {
        this.operator = operator;
    }

    JobOperator operator() {
        return operator;
    }

    /** Refuses settings that the kind does not know. */
    void checkKnown(List<String> known) {
        for (String name : operator.settings().keySet()) {
            if (!known.contains(name)) {
                throw wrong("%s takes no setting '%s'%s"
                        .formatted(operator.kind(), name, NearestName.hint(name, known)));
            }
        }
    }

    boolean has(String name) {
        return operator.settings().containsKey(name);
    }

    String text(String name) {
        String text = textOrNull(name);
        if (text == null) {
            throw missing(name);
        }
        return text;
    }

    @Nullable
    String textOrNull(String name) {
        return switch (operator.settings().get(name)) {
            case null -> null;
            case String text -> text;
            case Object _ -> throw wrong("'%s' must be a text".formatted(name));
        };
    }

    /** A list of texts; empty where it is not given. */
    List<String> texts(String name) {
        Object given = operator.settings().get(name);
        if (given == null) {
            return List.of();
        }
        List<String> texts = new ArrayList<>();
        for (Object one : list(name, given)) {
            if (!(one instanceof String text)) {
                throw wrong("'%s' must be a list of texts".formatted(name));
            }
            texts.add(text);
        }
        return texts;
    }

    /** A list of texts with at least one. */
    List<String> someTexts(String name) {
        List<String> texts = texts(name);
        if (texts.isEmpty()) {
            throw missing(name);
        }
        return texts;
    }

    private List<?> list(String name, Object given) {
        if (given instanceof List<?> list) {
            return list;
        }
        throw wrong("'%s' must be a list".formatted(name));
    }

    /** A list of maps. */
    List<Map<?, ?>> maps(String name) {
        Object given = operator.settings().get(name);
        if (given == null) {
            throw missing(name);
        }
        List<Map<?, ?>> maps = new ArrayList<>();
        for (Object one : list(name, given)) {
            if (!(one instanceof Map<?, ?> map)) {
                throw wrong("'%s' must be a list of objects".formatted(name));
            }
            maps.add(map);
        }
        return maps;
    }

    /** A map of texts, in its order. */
    Map<?, ?> map(String name) {
        return switch (operator.settings().get(name)) {
            case null -> throw missing(name);
            case Map<?, ?> map -> map;
            case Object _ -> throw wrong("'%s' must be an object".formatted(name));
        };
    }

    /** A whole number of 0 or more. */
    long count(String name, long otherwise) {
        return switch (operator.settings().get(name)) {
            case null -> otherwise;
            case Long number when number >= 0 -> number;
            case Object _ ->
                throw wrong("'%s' must be a whole number of 0 or more".formatted(name));
        };
    }

    boolean is(String name) {
        return switch (operator.settings().get(name)) {
            case null -> false;
            case Boolean is -> is;
            case Object _ -> throw wrong("'%s' must be true or false".formatted(name));
        };
    }

    InvalidRequestException missing(String name) {
        return wrong("%s needs the setting '%s'".formatted(operator.kind(), name));
    }

    /** What is wrong with this operator. */
    InvalidRequestException wrong(String what) {
        return wrong(operator.name(), what);
    }

    static InvalidRequestException wrong(String operator, String what) {
        return new InvalidRequestException(
                String.format(Locale.ROOT, "operator '%s': %s", operator, what));
    }
}
