package io.turbidite.hashlog.psf;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.hashlog.parse.FieldListener;
import io.turbidite.hashlog.parse.FieldValues;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.RecordParser;
import io.turbidite.hashlog.parse.Rejection;
import io.turbidite.hashlog.parse.ScanMode;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * All PSFs of a set over one parse. <em>Confined to one thread.</em>
 *
 * <p>While the parser runs, the plan watches the fields that come: a term of a conjunction that
 * looks at one field is a <em>guard</em>, tested when the field is found. If it is not true,
 * neither is the predicate, and fields that only such predicates want are released. So {@code type
 * == "PullRequestEvent" && payload.pull_request.head.repo.language == "C++"} costs other events no
 * look into their payload, which is most of the record.
 */
final class PsfPlan implements PropertyExtractor, FieldListener {
    private final CompiledPsf[] psfs;
    /** The fields of each PSF, each once. */
    private final int[][] fieldsOf;
    /** The guards at each field. */
    private final Guard[][] guardsAt;
    /** How many PSFs want each field. */
    private final int[] wanted;

    private final int[] wantedNow;
    private final boolean[] decided;
    private final RecordParser parser;
    private final boolean reading;
    private final boolean callsFunctions;
    private @Nullable FunctionFailure failure;

    /** Decides PSF {@code psf} if it is not true. */
    private record Guard(int psf, PredicatePlan plan) {}

    PsfPlan(
            ParserSpec spec,
            SortedMap<Integer, PsfDefinition> definitions,
            PsfFunctions functions,
            ScanMode mode,
            boolean reading) {
        this.reading = reading;
        this.callsFunctions =
                definitions.values().stream().anyMatch(PsfDefinition.Function.class::isInstance);
        Map<FieldPath, Integer> numbers = new LinkedHashMap<>();
        CanonicalValues canonical = new CanonicalValues();
        List<CompiledPsf> compiled = new ArrayList<>();
        List<int[]> fields = new ArrayList<>();
        definitions.forEach((id, definition) -> {
            compiled.add(
                    CompiledPsf.of(id, definition, functions, canonical, p -> number(p, numbers)));
            fields.add(definition.paths().stream()
                    .distinct()
                    .mapToInt(p -> number(p, numbers))
                    .toArray());
        });
        psfs = compiled.toArray(CompiledPsf[]::new);
        fieldsOf = fields.toArray(int[][]::new);
        wanted = new int[numbers.size()];
        for (int[] ofPsf : fieldsOf) {
            for (int field : ofPsf) {
                wanted[field]++;
            }
        }
        wantedNow = wanted.clone();
        decided = new boolean[psfs.length];
        guardsAt = guards(List.copyOf(definitions.values()), numbers);
        parser = spec.newParser(List.copyOf(numbers.keySet()), this, mode);
    }

    private static int number(FieldPath path, Map<FieldPath, Integer> numbers) {
        return numbers.computeIfAbsent(path, _ -> numbers.size());
    }

    private static Guard[][] guards(
            List<PsfDefinition> definitions, Map<FieldPath, Integer> numbers) {
        List<List<Guard>> guards = new ArrayList<>();
        numbers.forEach((_, _) -> guards.add(new ArrayList<>()));
        for (int psf = 0; psf < definitions.size(); psf++) {
            if (definitions.get(psf) instanceof PsfDefinition.Where(Expression expression)) {
                List<Expression> terms = expression instanceof Expression.And(List<Expression> all)
                        ? all
                        : List.of(expression);
                for (Expression term : terms) {
                    List<FieldPath> paths = new PsfDefinition.Where(term).paths();
                    if (paths.size() == 1) {
                        guards.get(number(paths.getFirst(), numbers))
                                .add(new Guard(
                                        psf, PredicatePlan.of(term, p -> number(p, numbers))));
                    }
                }
            }
        }
        return guards.stream().map(g -> g.toArray(Guard[]::new)).toArray(Guard[][]::new);
    }

    @Override
    public boolean extract(MemorySegment segment, long offset, int length, Properties into) {
        into.clear();
        failure = null;
        if (psfs.length == 0) {
            return true;
        }
        System.arraycopy(wanted, 0, wantedNow, 0, wanted.length);
        Arrays.fill(decided, false);
        if (!(reading
                ? parser.read(segment, offset, length)
                : parser.parse(segment, offset, length))) {
            return false;
        }
        FieldValues values = parser.values();
        try {
            for (int i = 0; i < psfs.length; i++) {
                if (!decided[i]) {
                    psfs[i].evaluate(values, into);
                }
            }
            return true;
        } catch (CompiledPsf.FunctionFailedException e) {
            failure = e.failure();
            into.clear();
            return false;
        }
    }

    @Override
    public boolean callsFunctions() {
        return callsFunctions;
    }

    @Override
    public @Nullable FunctionFailure functionFailure() {
        return failure;
    }

    @Override
    public void found(FieldValues values, int field) {
        for (Guard guard : guardsAt[field]) {
            if (!decided[guard.psf] && !guard.plan.isTrue(values)) {
                decided[guard.psf] = true;
                for (int other : fieldsOf[guard.psf]) {
                    if (--wantedNow[other] == 0) {
                        values.release(other);
                    }
                }
            }
        }
    }

    @Override
    public Rejection rejection() {
        return parser.values().rejection();
    }
}
