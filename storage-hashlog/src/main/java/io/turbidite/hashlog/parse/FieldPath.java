package io.turbidite.hashlog.parse;

import io.turbidite.core.InvalidRequestException;

import java.util.ArrayList;
import java.util.List;

/** The way to a field: {@code actor.id}, {@code commits[0].sha}. <em>Immutable.</em> */
public record FieldPath(List<Step> steps) {

    /** One step down. */
    public sealed interface Step {}

    /** To the member of an object. */
    public record Name(String name) implements Step {}

    /** To the element of an array, from 0. */
    public record Element(int index) implements Step {}

    public FieldPath {
        steps = List.copyOf(steps);
        if (steps.isEmpty()) {
            throw new InvalidRequestException("a field path needs at least one name");
        }
    }

    /** Reads {@code a.b}. */
    public static FieldPath parse(String text) {
        List<Step> steps = new ArrayList<>();
        for (String name : text.split("\\.", -1)) {
            steps.add(new Name(name));
        }
        return new FieldPath(steps);
    }

    /** The form that {@link #parse} reads. */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (Step step : steps) {
            if (step instanceof Name(String name)) {
                text.append(text.isEmpty() ? "" : ".").append(name);
            }
        }
        return text.toString();
    }
}
