package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.text.Tokenizer;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Null for what a predicate or a query must be given is refused, and the message says what. */
class NothingGivenTest {
    private static final MemorySource SOURCE = Flights.source();

    /** What a careful caller could pass. */
    private static final Map<Class<?>, Object> VALUES = Map.of(
            String.class,
            "tail=1,1",
            Tokenizer.class,
            Tokenizer.WORD,
            double.class,
            1.0,
            long.class,
            1L,
            int.class,
            1,
            Order.class,
            Order.ASC,
            Nulls.class,
            Nulls.FIRST,
            RunOptions.class,
            RunOptions.defaults(),
            String[].class,
            new String[] {"tail"},
            List.class,
            List.of("tail"));

    @TestFactory
    Stream<DynamicTest> a_method_says_which_argument_is_null() {
        return Stream.of(Predicates.class, Query.class)
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> Modifier.isPublic(method.getModifiers()))
                .flatMap(method -> IntStream.range(0, method.getParameterCount())
                        .filter(i -> !mayBeNull(method, i))
                        .mapToObj(i -> DynamicTest.dynamicTest(
                                method.getName() + " " + List.of(method.getParameterTypes()) + " "
                                        + i,
                                () -> call(method, i))));
    }

    private static boolean mayBeNull(Method method, int parameter) {
        return method.getParameterTypes()[parameter].isPrimitive()
                || method.getAnnotatedParameterTypes()[parameter].isAnnotationPresent(
                        Nullable.class);
    }

    private static void call(Method method, int lacking) throws IllegalAccessException {
        @Nullable Object[] arguments = new @Nullable Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            Class<?> type = method.getParameterTypes()[i];
            arguments[i] = i == lacking
                            || type == Source.class
                            || type == ReadView.class
                            || type == Relation.class
                    ? null
                    : VALUES.getOrDefault(type, "tail");
        }
        Throwable thrown = null;
        try {
            method.invoke(
                    Modifier.isStatic(method.getModifiers()) ? null : Query.on((Source) SOURCE),
                    arguments);
        } catch (InvocationTargetException e) {
            thrown = e.getCause();
        }
        assertThat(thrown)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageEndingWith("is null");
    }

    @TestFactory
    Stream<DynamicTest> an_element_of_a_list_is_checked_too() {
        String[] one = Arrays.copyOf(new String[0], 1);
        Query query = Query.on((Source) SOURCE);
        return Stream.<Runnable>of(
                        () -> query.select(one),
                        () -> query.groupBy(one),
                        () -> query.usingIndexes(one))
                .map(call -> DynamicTest.dynamicTest("list", () -> assertRefused(call)));
    }

    private static void assertRefused(Runnable call) {
        Throwable thrown = null;
        try {
            call.run();
        } catch (RuntimeException e) {
            thrown = e;
        }
        assertThat(thrown)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageEndingWith("is null");
    }
}
