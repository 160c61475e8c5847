package io.turbidite.core.sim;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What several threads did to a few registers, and when; and whether one order explains it: each
 * call takes effect at one moment between its invocation and its return, all its registers at once
 * (strict serializability; for calls of one register that is linearizability).
 *
 * <p>The check goes through invocations and returns as they came. It keeps every state that the
 * registers may be in, with the calls under way that have taken effect in it; at a return it lets
 * those that have not take effect in every order, and drops the states in which the returning call
 * has not (just-in-time linearization; Lowe, Testing for linearizability, 2017). That is cheap as
 * long as few threads are in calls at once.
 *
 * <p><em>Confined to one thread.</em> Values should be unique, or little can be told.
 */
public final class RegisterCalls {
    /** A register that holds nothing; so they begin. */
    public static final int ABSENT = 0;

    /** In {@link Call#saw}: any value but {@link #ABSENT}. */
    public static final int PRESENT = -1;

    /** Calls at once: the check takes long long before that. */
    private static final int UNDER_WAY_COUNT_MAX = 31;

    /** Calls that a failure shows. */
    private static final int SHOWN_COUNT_MAX = 16;

    private final int registerCount;
    private final List<Call> calls = new ArrayList<>();

    public RegisterCalls(int registerCount) {
        this.registerCount = registerCount;
    }

    /**
     * A call.
     *
     * @param thread who called, for people to read
     * @param invokedNanos before it began
     * @param returnedNanos after its effect was said to be there
     * @param saw the values that it found in registers
     * @param wrote the values that it left in registers
     */
    public record Call(
            int thread,
            long invokedNanos,
            long returnedNanos,
            String name,
            Map<Integer, Integer> saw,
            Map<Integer, Integer> wrote) {
        public Call {
            if (returnedNanos < invokedNanos) {
                throw new IllegalArgumentException("%s of thread %d, %d to %d"
                        .formatted(name, thread, invokedNanos, returnedNanos));
            }
            saw = Map.copyOf(saw);
            wrote = Map.copyOf(wrote);
        }

        private boolean fits(List<Integer> state) {
            for (Map.Entry<Integer, Integer> seen : saw.entrySet()) {
                int there = state.get(seen.getKey());
                int wanted = seen.getValue();
                if (wanted == PRESENT ? there == ABSENT : there != wanted) {
                    return false;
                }
            }
            return true;
        }

        private List<Integer> after(List<Integer> state) {
            List<Integer> changed = new ArrayList<>(state);
            wrote.forEach(changed::set);
            return changed;
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(
                    "thread %d, %d to %d: %s".formatted(thread, invokedNanos, returnedNanos, name));
            if (!saw.isEmpty()) {
                text.append(" saw ").append(new TreeMap<>(saw));
            }
            if (!wrote.isEmpty()) {
                text.append(" wrote ").append(new TreeMap<>(wrote));
            }
            return text.toString();
        }
    }

    /**
     * What the registers may hold, and which calls under way (a bit each) have taken effect by
     * then.
     */
    private record Possible(List<Integer> state, int effective) {
        boolean has(int place) {
            return (effective & 1 << place) != 0;
        }
    }

    /** An invocation or a return. */
    private record Moment(long nanos, boolean isReturn, Call call) {}

    public void add(Call call) {
        calls.add(call);
    }

    public void addAll(Collection<Call> more) {
        calls.addAll(more);
    }

    public int count() {
        return calls.size();
    }

    /**
     * Looks for an order.
     *
     * @throws AssertionError naming the first call that no order explains, and the calls around it
     */
    public void check() {
        @Nullable Call[] underWay = new @Nullable Call[UNDER_WAY_COUNT_MAX];
        Set<Possible> possible =
                Set.of(new Possible(Collections.nCopies(registerCount, ABSENT), 0));
        for (Moment moment : moments()) {
            if (!moment.isReturn) {
                underWay[place(underWay, null)] = moment.call;
                continue;
            }
            int place = place(underWay, moment.call);
            Set<Possible> after = after(place, underWay, possible);
            if (after.isEmpty()) {
                throw new AssertionError(failure(moment.call, underWay, possible));
            }
            possible = after;
            underWay[place] = null;
        }
    }

    private static int place(@Nullable Call[] underWay, @Nullable Call call) {
        for (int i = 0; i < underWay.length; i++) {
            if (Objects.equals(underWay[i], call)) {
                return i;
            }
        }
        throw new IllegalArgumentException("more than %d calls at once".formatted(underWay.length));
    }

    /**
     * In the order of time; of moments at the same time invocations first, so that such calls
     * overlap.
     */
    private List<Moment> moments() {
        List<Moment> moments = new ArrayList<>(2 * calls.size());
        for (Call call : calls) {
            moments.add(new Moment(call.invokedNanos, false, call));
            moments.add(new Moment(call.returnedNanos, true, call));
        }
        moments.sort(Comparator.comparingLong(Moment::nanos).thenComparing(Moment::isReturn));
        return moments;
    }

    /** What is possible once the call at {@code returning} has taken effect and is gone. */
    private static Set<Possible> after(
            int returning, @Nullable Call[] underWay, Set<Possible> before) {
        Set<Possible> met = new HashSet<>(before);
        List<Possible> open = new ArrayList<>(before);
        Set<Possible> after = new HashSet<>();
        while (!open.isEmpty()) {
            Possible one = open.removeLast();
            if (one.has(returning)) {
                after.add(new Possible(one.state, one.effective & ~(1 << returning)));
                continue;
            }
            for (int place = 0; place < underWay.length; place++) {
                Call call = underWay[place];
                if (call != null && !one.has(place) && call.fits(one.state)) {
                    Possible next = new Possible(call.after(one.state), one.effective | 1 << place);
                    if (met.add(next)) {
                        open.add(next);
                    }
                }
            }
        }
        return after;
    }

    private String failure(Call call, @Nullable Call[] underWay, Set<Possible> possible) {
        Set<Integer> registers = new HashSet<>(call.saw.keySet());
        registers.addAll(call.wrote.keySet());
        List<Call> related = calls.stream()
                .filter(other -> other.invokedNanos <= call.returnedNanos)
                .filter(other -> other.saw.keySet().stream().anyMatch(registers::contains)
                        || other.wrote.keySet().stream().anyMatch(registers::contains))
                .sorted(Comparator.comparingLong(Call::invokedNanos))
                .toList();
        return "no order explains %s%npossible before: %s%nunder way: %s%nthe last calls of its registers:%n%s"
                .formatted(
                        call,
                        possible.stream()
                                .limit(SHOWN_COUNT_MAX)
                                .map(Possible::state)
                                .distinct()
                                .toList(),
                        Arrays.stream(underWay)
                                .filter(other -> other != null && !other.equals(call))
                                .toList(),
                        related.stream()
                                .skip(Math.max(0, related.size() - SHOWN_COUNT_MAX))
                                .map(other -> "  " + other)
                                .collect(Collectors.joining(System.lineSeparator())));
    }
}
