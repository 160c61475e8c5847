package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.NearestName;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The declared fields of an open record type, in order. <em>Immutable.</em>
 *
 * <p>A field's index here is its index in the record codec. What lies within a nested record is a
 * field of its own, named by its path and numbered behind the record that it lies in: of {@code id,
 * user: {lang, name}} 0 is {@code id}, 1 {@code user}, 2 {@code user.lang}, 3 {@code user.name}.
 * Indexes from the count of {@link #fields()} on stand for the elements of arrays, {@code
 * hashtags[]}: a record has none, one or many values of it.
 */
public final class RecordType {
    /** Behind the name of an array: each of its elements. */
    public static final String EACH = "[]";

    /** The {@link #parent} of what lies in no nested record. */
    public static final int TOP = -1;

    private final List<Field> declared;
    private final List<Field> fields;
    private final List<Field> elements;

    /** The array of each of {@link #elements}. */
    private final int[] arrays;

    /** Of each field the index of its elements; of what is no array, -1. */
    private final int[] eachOf;

    /** Of each field; null where there are no nested records. */
    private final int @Nullable [] parents;

    /** Of each field what follows it and all within it; null as {@link #parents}. */
    private final int @Nullable [] behind;

    /** Of each field whether it was declared so; null as {@link #parents}. */
    private final boolean @Nullable [] isOptional;

    /** By path. */
    private final Map<String, Integer> indexByName;

    /** By name within each field, the top behind the last; null as {@link #parents}. */
    private final @Nullable List<Map<String, Integer>> memberByName;

    /** What {@link #derived} has worked out; null before. */
    private volatile @Nullable Object derived;

    private RecordType(List<Field> declared) {
        this.declared = List.copyOf(declared);
        Flattened flattened = new Flattened();
        flattened.add(this.declared, "", TOP, false, 1);
        this.fields = List.copyOf(flattened.fields);
        this.indexByName = new HashMap<>();
        boolean isNested = fields.stream().anyMatch(f -> f.kind() == TypeKind.RECORD);
        this.parents = isNested ? toArray(flattened.parents) : null;
        this.behind = isNested ? toArray(flattened.behind) : null;
        this.isOptional = isNested ? flattened.isOptional() : null;
        List<Field> each = new ArrayList<>();
        List<Integer> arrayIndexes = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            Field field = fields.get(i);
            putName(field.name(), i);
            if (field.kind() == TypeKind.ARRAY) {
                each.add(new Field(field.name() + EACH, field.elementKind(), true));
                arrayIndexes.add(i);
            }
        }
        for (int i = 0; i < each.size(); i++) {
            putName(each.get(i).name(), fields.size() + i);
        }
        this.elements = List.copyOf(each);
        this.arrays = toArray(arrayIndexes);
        this.eachOf = new int[fields.size()];
        Arrays.fill(eachOf, -1);
        for (int i = 0; i < arrays.length; i++) {
            eachOf[arrays[i]] = fields.size() + i;
        }
        this.memberByName = isNested ? members(flattened) : null;
    }

    private void putName(String path, int index) {
        if (indexByName.putIfAbsent(path, index) != null) {
            throw new InvalidRequestException("field '%s' is declared twice".formatted(path));
        }
    }

    private static int[] toArray(List<Integer> numbers) {
        return numbers.stream().mapToInt(Integer::intValue).toArray();
    }

    private List<Map<String, Integer>> members(Flattened flattened) {
        List<Map<String, Integer>> byName = new ArrayList<>();
        for (int i = 0; i <= fields.size(); i++) {
            byName.add(
                    i == fields.size() || fields.get(i).kind() == TypeKind.RECORD
                            ? new HashMap<>()
                            : Map.of());
        }
        for (int i = 0; i < fields.size(); i++) {
            int parent = flattened.parents.get(i);
            byName.get(parent == TOP ? fields.size() : parent).put(flattened.names.get(i), i);
        }
        return byName;
    }

    /** Collects fields by their paths. */
    private static final class Flattened {
        final List<Field> fields = new ArrayList<>();
        final List<String> names = new ArrayList<>();
        final List<Integer> parents = new ArrayList<>();
        final List<Integer> behind = new ArrayList<>();
        final BitSet optional = new BitSet();

        boolean[] isOptional() {
            boolean[] is = new boolean[fields.size()];
            for (int i = 0; i < is.length; i++) {
                is[i] = optional.get(i);
            }
            return is;
        }

        void add(List<Field> members, String before, int parent, boolean isOptional, int depth) {
            for (Field member : members) {
                String path = before + member.name();
                int index = fields.size();
                if (index == Limits.DECLARED_FIELD_COUNT_MAX) {
                    throw new InvalidRequestException(
                            "%d declared fields, with '%s', are more than the limit of %d"
                                    .formatted(index + 1, path, index));
                }
                boolean mayBeAbsent = isOptional || member.optional();
                fields.add(member.as(path, mayBeAbsent));
                names.add(member.name());
                parents.add(parent);
                behind.add(index);
                optional.set(index, member.optional());
                if (member.kind() == TypeKind.RECORD) {
                    checkDepth(path, depth + 1);
                    if (parent == TOP) {
                        LabelReader.checkLength(member);
                    }
                    add(member.members(), path + '.', index, mayBeAbsent, depth + 1);
                }
                behind.set(index, fields.size());
            }
        }
    }

    /** The type itself is the first of the {@link Limits#NESTING_DEPTH_MAX} levels. */
    static void checkDepth(String path, int depth) {
        if (depth > Limits.NESTING_DEPTH_MAX) {
            throw new InvalidRequestException("field '%s' is nested deeper than the limit of %d"
                    .formatted(path, Limits.NESTING_DEPTH_MAX));
        }
    }

    /**
     * The type of these fields.
     *
     * @throws io.turbidite.core.InvalidRequestException if a name comes twice, or there are too
     *     many
     */
    public static RecordType of(List<Field> fields) {
        return new RecordType(fields);
    }

    /** Begins with no field. */
    public static Builder builder() {
        return new Builder();
    }

    /** The fields as they were declared: those of nested records are within them. */
    public List<Field> declared() {
        return declared;
    }

    /**
     * The fields that records have, by index: each nested record, then what lies in it, by its
     * path. What lies in an optional record is optional here.
     */
    public List<Field> fields() {
        return fields;
    }

    /** A field, or the elements of an array. */
    public Field field(int index) {
        return index < fields.size() ? fields.get(index) : elements.get(index - fields.size());
    }

    /** The index of a declared field by its path, {@link #EACH} included, or -1. */
    public int indexOf(String path) {
        Integer index = indexByName.get(path);
        return index == null ? -1 : index;
    }

    /**
     * The index of what is declared within a record, by its name there, or -1.
     *
     * @param record index of the nested record, or {@link #TOP}
     */
    public int memberOf(int record, String name) {
        if (memberByName == null) {
            int index = indexOf(name);
            return index < fields.size() ? index : -1;
        }
        Integer index = memberByName.get(record == TOP ? fields.size() : record).get(name);
        return index == null ? -1 : index;
    }

    /** The name of a field within the record it lies in. */
    public String memberName(int field) {
        int record = parent(field);
        String path = field(field).name();
        return record == TOP ? path : path.substring(field(record).name().length() + 1);
    }

    /** The nested record that a field lies in, or {@link #TOP}. */
    public int parent(int field) {
        return parents == null || field >= fields.size() ? TOP : parents[field];
    }

    /** Whether a field may be absent where the nested record that it lies in is there. */
    public boolean isOptionalMember(int field) {
        return isOptional == null ? field(field).optional() : isOptional[field];
    }

    /** The index behind a field and all that lies in it. */
    public int behind(int field) {
        return behind == null ? field + 1 : behind[field];
    }

    /** How many arrays there are: so many indexes of elements follow those of the fields. */
    public int arrayCount() {
        return arrays.length;
    }

    /** Whether the index stands for the elements of an array. */
    public boolean isEach(int field) {
        return field >= fields.size();
    }

    /** The array whose elements an index stands for. */
    public int arrayOf(int each) {
        return arrays[each - fields.size()];
    }

    /** The index that stands for the elements of an array. */
    public int eachOf(int array) {
        return eachOf[array];
    }

    /** Whether there are nested records. */
    public boolean hasNested() {
        return parents != null;
    }

    /** Whether there are neither arrays nor nested records. */
    public boolean isFlat() {
        return parents == null && arrays.length == 0;
    }

    /**
     * The index of a declared field.
     *
     * @throws InvalidRequestException naming {@code use} if it is not declared
     */
    public int require(String name, String use) {
        int index = indexOf(name);
        if (index < 0) {
            throw new InvalidRequestException(
                    "%s names field '%s', which is not declared; declared are %s%s"
                            .formatted(use, name, names(), meant(name)));
        }
        return index;
    }

    /** All paths, for messages. */
    public String names() {
        return String.join(", ", paths());
    }

    /** The end of a message on a field that is not declared: which one may be meant, or nothing. */
    public String meant(String name) {
        return NearestName.hint(name, paths());
    }

    private List<String> paths() {
        return Stream.concat(fields.stream(), elements.stream())
                .map(Field::name)
                .toList();
    }

    /**
     * The type of what a record has at these paths: they lie in nested records as they do here.
     *
     * @throws InvalidRequestException if one is not declared
     */
    public RecordType only(List<String> paths) {
        List<Field> top = new ArrayList<>();
        for (String path : paths) {
            if (parent(require(path, "a key")) == TOP) {
                top.add(field(indexOf(path)));
            }
        }
        for (Field field : declared) {
            List<Field> members = only(field, field.name(), paths);
            if (!members.isEmpty()) {
                top.add(Field.nested(field.name(), members, field.optional()));
            }
        }
        return of(top);
    }

    private static List<Field> only(Field nested, String path, List<String> paths) {
        List<Field> members = new ArrayList<>();
        for (Field member : nested.members()) {
            String inner = path + '.' + member.name();
            if (paths.contains(inner)) {
                members.add(member);
                continue;
            }
            List<Field> further = only(member, inner, paths);
            if (!further.isEmpty()) {
                members.add(Field.nested(member.name(), further, member.optional()));
            }
        }
        return members;
    }

    /**
     * What is worked out of this type and kept with it, so that it is made once and not for each
     * reader of a record. There is one thing of this kind: how its records are laid out.
     *
     * @param kind of the thing
     * @param maker makes it of this type; what it makes is immutable
     */
    public <T> T derived(Class<T> kind, Function<RecordType, T> maker) {
        Object known = derived;
        if (known == null) {
            known = maker.apply(this);
            derived = known; // of two threads that make one each either is kept
        }
        return kind.cast(known);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RecordType type && declared.equals(type.declared);
    }

    @Override
    public int hashCode() {
        return declared.hashCode();
    }

    @Override
    public String toString() {
        return toString(declared);
    }

    /** As {@link Field#parse} reads it. */
    static String toString(List<Field> fields) {
        return fields.stream()
                .map(f -> LabelReader.quoted(f.name()) + ": " + f.typeLabel())
                .collect(Collectors.joining(", ", "{", "}"));
    }

    /** Collects fields in order. */
    public static final class Builder {
        private final List<Field> fields = new ArrayList<>();

        /** Adds a field by its label, for example {@code field("tailnum", "string?")}. */
        public Builder field(String name, String label) {
            fields.add(Field.parse(name, label));
            return this;
        }

        /**
         * The type of the fields so far.
         *
         * @throws io.turbidite.core.InvalidRequestException if a name comes twice, or there are too
         *     many
         */
        public RecordType build() {
            return of(fields);
        }
    }
}
