package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A Java record as a list of components and a constructor, fitted to declared fields.
 * <em>Immutable.</em>
 *
 * @param components in the order of the constructor's parameters
 * @param constructor takes all of them in an array of objects
 */
record RecordShape(List<Component> components, MethodHandle constructor) {
    private static final Map<TypeKind, Class<?>> JAVA = Map.ofEntries(
            Map.entry(TypeKind.BOOL, Boolean.class),
            Map.entry(TypeKind.INT8, Byte.class),
            Map.entry(TypeKind.INT16, Short.class),
            Map.entry(TypeKind.INT32, Integer.class),
            Map.entry(TypeKind.INT64, Long.class),
            Map.entry(TypeKind.FLOAT, Float.class),
            Map.entry(TypeKind.DOUBLE, Double.class),
            Map.entry(TypeKind.DECIMAL, BigDecimal.class),
            Map.entry(TypeKind.STRING, String.class),
            Map.entry(TypeKind.BINARY, byte[].class),
            Map.entry(TypeKind.UUID, UUID.class),
            Map.entry(TypeKind.DATE, LocalDate.class),
            Map.entry(TypeKind.TIME, LocalTime.class),
            Map.entry(TypeKind.DATETIME, Instant.class),
            Map.entry(TypeKind.DURATION, Duration.class),
            Map.entry(TypeKind.POINT, Point.class),
            Map.entry(TypeKind.LONLAT, Point.class),
            Map.entry(TypeKind.RECTANGLE, Rectangle.class),
            Map.entry(TypeKind.ARRAY, List.class),
            Map.entry(TypeKind.RECORD, Map.class));

    private static final List<Class<?>> INTEGERS =
            List.of(Byte.class, Short.class, Integer.class, Long.class);

    /**
     * A component.
     *
     * @param accessor from an object to an object
     * @param toStore of a value as the component has it
     * @param toJava of a value as records have it
     */
    record Component(
            String name,
            MethodHandle accessor,
            UnaryOperator<Object> toStore,
            UnaryOperator<Object> toJava) {
        /** As a record takes it. */
        @Nullable
        Object get(Object record) {
            Object value = call(() -> accessor.invokeExact(record));
            return value == null ? null : toStore.apply(value);
        }
    }

    /** A call of a method handle. */
    private interface Call {
        @Nullable
        Object call() throws Throwable;
    }

    /** What the record's own code throws is passed on. */
    @SuppressWarnings("IllegalCatch")
    private static @Nullable Object call(Call call) {
        try {
            return call.call();
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new InvalidRequestException("a record's own code failed: " + e, e);
        }
    }

    /** A record of the values that {@code values} has under the components' names. */
    Object make(Function<String, @Nullable Object> values) {
        @Nullable Object[] arguments = new @Nullable Object[components.size()];
        for (int i = 0; i < arguments.length; i++) {
            Component component = components.get(i);
            Object value = values.apply(component.name);
            arguments[i] = value == null ? null : component.toJava.apply(value);
        }
        Object made = call(() -> constructor.invokeExact(arguments));
        if (made == null) {
            throw new AssertionError("a constructor made nothing");
        }
        return made;
    }

    /**
     * Fits a Java record to fields.
     *
     * @throws InvalidRequestException listing what does not fit
     */
    static RecordShape of(MethodHandles.Lookup lookup, Class<?> javaType, List<Field> fields) {
        if (!javaType.isRecord()) {
            // Record itself, which the compiler lets pass
            throw new InvalidRequestException(
                    "%s is no record that a dataset could have".formatted(javaType.getName()));
        }
        List<String> mismatches = new ArrayList<>();
        RecordShape shape = new Fitting(lookup, mismatches).fit(javaType, fields, "");
        if (!mismatches.isEmpty()) {
            throw new InvalidRequestException("record %s does not fit: %s"
                    .formatted(javaType.getSimpleName(), String.join("; ", mismatches)));
        }
        return shape;
    }

    /** Notes what does not fit, and goes on. */
    private record Fitting(MethodHandles.Lookup lookup, List<String> mismatches) {
        RecordShape fit(Class<?> javaType, List<Field> fields, String path) {
            List<Component> components = new ArrayList<>();
            List<String> names = new ArrayList<>();
            for (RecordComponent component : javaType.getRecordComponents()) {
                names.add(component.getName());
                Field field = fields.stream()
                        .filter(one -> one.name().equals(component.getName()))
                        .findFirst()
                        .orElse(null);
                if (field == null) {
                    mismatches.add("component '%s' is no declared field%s"
                            .formatted(
                                    path + component.getName(),
                                    NearestName.hint(
                                            component.getName(),
                                            fields.stream().map(Field::name).toList())));
                } else {
                    components.add(component(component, field, path));
                }
            }
            for (Field field : fields) {
                if (!field.optional() && !names.contains(field.name())) {
                    mismatches.add("field '%s' (%s) is required and no component"
                            .formatted(path + field.name(), field.typeLabel()));
                }
            }
            return new RecordShape(List.copyOf(components), constructor(javaType));
        }

        private MethodHandle constructor(Class<?> javaType) {
            List<Class<?>> types = Arrays.stream(javaType.getRecordComponents())
                    .<Class<?>>map(RecordComponent::getType)
                    .toList();
            try {
                return lookup.findConstructor(javaType, MethodType.methodType(void.class, types))
                        .asSpreader(Object[].class, types.size())
                        .asType(MethodType.methodType(Object.class, Object[].class));
            } catch (NoSuchMethodException | IllegalAccessException e) {
                throw noAccess(javaType, e);
            }
        }

        private InvalidRequestException noAccess(Class<?> javaType, Exception cause) {
            return new InvalidRequestException(
                    "the lookup of %s may not use record %s: give MethodHandles.lookup() of a class that may"
                            .formatted(lookup.lookupClass().getName(), javaType.getName()),
                    cause);
        }

        private Component component(RecordComponent component, Field field, String path) {
            MethodHandle accessor;
            try {
                accessor = lookup.unreflect(component.getAccessor())
                        .asType(MethodType.methodType(Object.class, Object.class));
            } catch (IllegalAccessException e) {
                throw noAccess(component.getDeclaringRecord(), e);
            }
            Class<?> given = component.getType();
            if (field.optional() && given.isPrimitive()) {
                mismatch(
                        component,
                        field,
                        path,
                        "may be null: take " + boxed(given).getSimpleName());
            }
            if (field.kind() == TypeKind.RECORD && given.isRecord()) {
                RecordShape nested = fit(given, field.members(), path + field.name() + ".");
                return new Component(
                        field.name(),
                        accessor,
                        nested::toMap,
                        value -> nested.ofMap((Map<?, ?>) value));
            }
            UnaryOperator<Object> widening = widening(field.kind(), boxed(given));
            if (widening == null) {
                mismatch(component, field, path, "takes " + taken(field.kind()));
                widening = UnaryOperator.identity();
            } else if (field.kind() == TypeKind.ARRAY) {
                checkElements(component, field, path);
            }
            return new Component(field.name(), accessor, UnaryOperator.identity(), widening);
        }

        private void mismatch(
                RecordComponent component, Field field, String path, String expected) {
            mismatches.add("component '%s' is %s, and the field (%s) %s"
                    .formatted(
                            path + field.name(),
                            component.getGenericType().getTypeName().replaceAll("[\\w.]+\\.", ""),
                            field.typeLabel(),
                            expected));
        }

        private void checkElements(RecordComponent component, Field field, String path) {
            if (component.getGenericType() instanceof ParameterizedType list) {
                Type element = list.getActualTypeArguments()[0];
                Class<?> wanted = java(field.elementKind());
                if (element instanceof Class<?> given && !given.isAssignableFrom(wanted)) {
                    mismatch(
                            component,
                            field,
                            path,
                            "takes List<%s>".formatted(wanted.getSimpleName()));
                }
            }
        }
    }

    /** How a value of the kind becomes one of the class; null if it can't without loss. */
    private static @Nullable UnaryOperator<Object> widening(TypeKind kind, Class<?> given) {
        Class<?> java = java(kind);
        if (given.isAssignableFrom(java)) {
            return UnaryOperator.identity();
        }
        if (INTEGERS.indexOf(java) >= 0 && INTEGERS.indexOf(given) > INTEGERS.indexOf(java)) {
            if (given == Long.class) {
                return value -> ((Number) value).longValue();
            }
            return given == Integer.class
                    ? value -> ((Number) value).intValue()
                    : value -> ((Number) value).shortValue();
        }
        return kind == TypeKind.FLOAT && given == Double.class
                ? value -> ((Number) value).doubleValue()
                : null;
    }

    private static Class<?> java(TypeKind kind) {
        Class<?> java = JAVA.get(kind);
        if (java == null) {
            throw new AssertionError(kind);
        }
        return java;
    }

    private static String taken(TypeKind kind) {
        return kind == TypeKind.RECORD ? "a record or Map" : java(kind).getSimpleName();
    }

    private static Class<?> boxed(Class<?> type) {
        return MethodType.methodType(type).wrap().returnType();
    }

    /** A record of this shape as what lies in a nested record. */
    private Map<String, @Nullable Object> toMap(Object record) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (Component component : components) {
            values.put(component.name, component.get(record));
        }
        return values;
    }

    private Object ofMap(Map<?, ?> values) {
        return make(values::get);
    }
}
