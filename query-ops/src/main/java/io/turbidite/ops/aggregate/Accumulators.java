package io.turbidite.ops.aggregate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.TypeKind;

import java.math.BigInteger;

/** The aggregates whose states are a few numbers. */
final class Accumulators {
    private static final double TWO_TO_64 = 0x1p64;

    private Accumulators() {}

    private static long get(Slice states, int offset) {
        return states.segment().get(Bytes.I64, states.offset() + offset);
    }

    private static void set(Slice states, int offset, long value) {
        states.segment().set(Bytes.I64, states.offset() + offset, value);
    }

    /** Where states begin among the words of a group. */
    private static int wordOf(int offset) {
        return offset / Long.BYTES;
    }

    private static double getDouble(Slice states, int offset) {
        return Double.longBitsToDouble(get(states, offset));
    }

    private static void setDouble(Slice states, int offset, double value) {
        set(states, offset, Double.doubleToRawLongBits(value));
    }

    /**
     * Rows, values or different values. One number.
     *
     * @param argument whose values are counted; {@link #ROWS}, or {@link #GIVEN} by whoever finds
     *     different values
     */
    record Count(int offset, int argument) implements Accumulator, ColumnAccumulator {
        static final int STATE_BYTES = 8;
        static final int ROWS = -1;
        static final int GIVEN = -2;

        @Override
        public void add(Slice states, Slice arguments) {
            boolean counts = argument >= 0
                    ? ArgumentFormat.isPresent(arguments, argument)
                    : argument == ROWS;
            if (counts) {
                increment(states);
            }
        }

        @Override
        public void addAll(
                long[] states, int[] places, int from, int to, ArgumentColumns arguments) {
            int word = wordOf(offset);
            if (argument == ROWS) {
                for (int i = from; i < to; i++) {
                    states[places[i] + word]++;
                }
            } else if (argument >= 0) {
                boolean[] absent = arguments.absent(argument);
                for (int i = from; i < to; i++) {
                    states[places[i] + word] += absent[i] ? 0 : 1;
                }
            }
        }

        void increment(Slice states) {
            set(states, offset, get(states, offset) + 1);
        }

        @Override
        public void merge(Slice states, Slice others) {
            set(states, offset, get(states, offset) + get(others, offset));
        }

        @Override
        public void finish(Slice states, AggregateValue result) {
            result.setNumber(get(states, offset));
        }
    }

    /**
     * Sum or mean of whole numbers: the low and the high half of a sum of 128 bits, which no number
     * of rows overflows, and the count. So it depends on the sum alone, and not on the order of the
     * rows, whether it fits.
     *
     * @param kind of the result: double for the mean of numbers
     */
    record LongSum(int offset, int argument, boolean isMean, TypeKind kind, String field)
            implements Accumulator, ColumnAccumulator {
        private static final int HIGH = 8;
        private static final int COUNT = 16;
        static final int STATE_BYTES = 24;

        @Override
        public void add(Slice states, Slice arguments) {
            if (ArgumentFormat.isPresent(arguments, argument)) {
                long value = ArgumentFormat.number(arguments, argument);
                add(states, value, value >> 63, 1);
            }
        }

        @Override
        public void merge(Slice states, Slice others) {
            add(
                    states,
                    get(others, offset),
                    get(others, offset + HIGH),
                    get(others, offset + COUNT));
        }

        @Override
        public void addAll(
                long[] states, int[] places, int from, int to, ArgumentColumns arguments) {
            int low = wordOf(offset);
            int high = wordOf(offset + HIGH);
            int count = wordOf(offset + COUNT);
            long[] numbers = arguments.numbers(argument);
            boolean[] absent = arguments.absent(argument);
            for (int i = from; i < to; i++) {
                if (absent[i]) {
                    continue;
                }
                int place = places[i];
                long value = numbers[i];
                long sum = states[place + low] + value;
                long carry = Long.compareUnsigned(sum, value) < 0 ? 1 : 0;
                states[place + low] = sum;
                states[place + high] += (value >> 63) + carry;
                states[place + count]++;
            }
        }

        private void add(Slice states, long low, long high, long count) {
            long sum = get(states, offset) + low;
            long carry = Long.compareUnsigned(sum, low) < 0 ? 1 : 0;
            set(states, offset, sum);
            set(states, offset + HIGH, get(states, offset + HIGH) + high + carry);
            set(states, offset + COUNT, get(states, offset + COUNT) + count);
        }

        @Override
        public void finish(Slice states, AggregateValue result) {
            long low = get(states, offset);
            long high = get(states, offset + HIGH);
            long count = get(states, offset + COUNT);
            boolean fits = high == low >> 63;
            if (count == 0) {
                result.setNull();
            } else if (!isMean) {
                if (!fits) {
                    throw new InvalidRequestException(
                            "the sum of '%s' is %d, which is out of range for type %s"
                                    .formatted(field, exact(low, high), kind.label()));
                }
                result.setNumber(low);
            } else if (kind == TypeKind.DOUBLE) {
                result.setFraction((fits ? (double) low : approximate(low, high)) / count);
            } else {
                result.setNumber(
                        fits
                                ? Math.floorDiv(low, count)
                                : floorOfMean(exact(low, high), BigInteger.valueOf(count)));
            }
        }

        private static double approximate(long low, long high) {
            return high * TWO_TO_64 + (low >>> 1) * 2.0 + (low & 1);
        }

        private static BigInteger exact(long low, long high) {
            BigInteger lowest = new BigInteger(Long.toUnsignedString(low));
            return BigInteger.valueOf(high).shiftLeft(Long.SIZE).add(lowest);
        }

        private static long floorOfMean(BigInteger sum, BigInteger count) {
            BigInteger[] parts = sum.divideAndRemainder(count);
            return parts[0].longValueExact() - (parts[1].signum() < 0 ? 1 : 0);
        }
    }

    /**
     * Sum or mean of doubles: the sum, what rounding has taken from it (after Neumaier), and the
     * count.
     */
    record DoubleSum(int offset, int argument, boolean isMean)
            implements Accumulator, ColumnAccumulator {
        private static final int LOST = 8;
        private static final int COUNT = 16;
        static final int STATE_BYTES = 24;

        @Override
        public void add(Slice states, Slice arguments) {
            if (ArgumentFormat.isPresent(arguments, argument)) {
                add(states, ArgumentFormat.fraction(arguments, argument), 0, 1);
            }
        }

        @Override
        public void merge(Slice states, Slice others) {
            add(
                    states,
                    getDouble(others, offset),
                    getDouble(others, offset + LOST),
                    get(others, offset + COUNT));
        }

        @Override
        public void addAll(
                long[] states, int[] places, int from, int to, ArgumentColumns arguments) {
            int sums = wordOf(offset);
            int losses = wordOf(offset + LOST);
            int count = wordOf(offset + COUNT);
            long[] bits = arguments.numbers(argument);
            boolean[] absent = arguments.absent(argument);
            for (int i = from; i < to; i++) {
                if (absent[i]) {
                    continue;
                }
                int place = places[i];
                double value = Double.longBitsToDouble(bits[i]);
                double sum = Double.longBitsToDouble(states[place + sums]);
                double next = sum + value;
                double lost = Double.longBitsToDouble(states[place + losses]) + lost(sum, value);
                states[place + sums] = Double.doubleToRawLongBits(next);
                states[place + losses] = Double.doubleToRawLongBits(lost);
                states[place + count]++;
            }
        }

        /** What rounding takes from a sum and a value that is added to it. */
        private static double lost(double sum, double value) {
            double next = sum + value;
            return Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
        }

        private void add(Slice states, double value, double lostBefore, long count) {
            double sum = getDouble(states, offset);
            double lost = lost(sum, value);
            setDouble(states, offset, sum + value);
            setDouble(states, offset + LOST, getDouble(states, offset + LOST) + lostBefore + lost);
            set(states, offset + COUNT, get(states, offset + COUNT) + count);
        }

        @Override
        public void finish(Slice states, AggregateValue result) {
            long count = get(states, offset + COUNT);
            if (count == 0) {
                result.setNull();
                return;
            }
            double sum = getDouble(states, offset);
            // of an infinite sum nothing finite was lost
            double exact = Double.isFinite(sum) ? sum + getDouble(states, offset + LOST) : sum;
            result.setFraction((isMean ? exact / count : exact) + 0.0);
        }
    }

    /** The least or greatest whole number, and whether there is one. */
    record NumberExtreme(int offset, int argument, boolean isMax)
            implements Accumulator, ColumnAccumulator {
        private static final int PRESENT = 8;
        static final int STATE_BYTES = 16;

        @Override
        public void add(Slice states, Slice arguments) {
            if (ArgumentFormat.isPresent(arguments, argument)) {
                take(states, ArgumentFormat.number(arguments, argument));
            }
        }

        @Override
        public void merge(Slice states, Slice others) {
            if (get(others, offset + PRESENT) != 0) {
                take(states, get(others, offset));
            }
        }

        @Override
        public void addAll(
                long[] states, int[] places, int from, int to, ArgumentColumns arguments) {
            int best = wordOf(offset);
            int present = wordOf(offset + PRESENT);
            long[] numbers = arguments.numbers(argument);
            boolean[] absent = arguments.absent(argument);
            for (int i = from; i < to; i++) {
                if (absent[i]) {
                    continue;
                }
                int place = places[i];
                long value = numbers[i];
                long known = states[place + best];
                boolean isBetter = isMax ? value > known : value < known;
                if (isBetter || states[place + present] == 0) {
                    states[place + best] = value;
                    states[place + present] = 1;
                }
            }
        }

        private void take(Slice states, long value) {
            long known = get(states, offset);
            if (get(states, offset + PRESENT) == 0) {
                set(states, offset + PRESENT, 1);
                set(states, offset, value);
            } else if (isMax ? value > known : value < known) {
                set(states, offset, value);
            }
        }

        @Override
        public void finish(Slice states, AggregateValue result) {
            if (get(states, offset + PRESENT) == 0) {
                result.setNull();
            } else {
                result.setNumber(get(states, offset));
            }
        }
    }

    /** The least or greatest double, and whether there is one; NaN is above all. */
    record DoubleExtreme(int offset, int argument, boolean isMax)
            implements Accumulator, ColumnAccumulator {
        private static final int PRESENT = 8;
        static final int STATE_BYTES = 16;

        @Override
        public void add(Slice states, Slice arguments) {
            if (ArgumentFormat.isPresent(arguments, argument)) {
                take(states, ArgumentFormat.fraction(arguments, argument));
            }
        }

        @Override
        public void merge(Slice states, Slice others) {
            if (get(others, offset + PRESENT) != 0) {
                take(states, getDouble(others, offset));
            }
        }

        @Override
        public void addAll(
                long[] states, int[] places, int from, int to, ArgumentColumns arguments) {
            int best = wordOf(offset);
            int present = wordOf(offset + PRESENT);
            long[] bits = arguments.numbers(argument);
            boolean[] absent = arguments.absent(argument);
            for (int i = from; i < to; i++) {
                if (absent[i]) {
                    continue;
                }
                int place = places[i];
                int order = Double.compare(
                        Double.longBitsToDouble(bits[i]),
                        Double.longBitsToDouble(states[place + best]));
                boolean isBetter = isMax ? order > 0 : order < 0;
                if (isBetter || states[place + present] == 0) {
                    states[place + best] = bits[i];
                    states[place + present] = 1;
                }
            }
        }

        private void take(Slice states, double value) {
            if (get(states, offset + PRESENT) == 0) {
                set(states, offset + PRESENT, 1);
                setDouble(states, offset, value);
            } else {
                int order = Double.compare(value, getDouble(states, offset));
                if (isMax ? order > 0 : order < 0) {
                    setDouble(states, offset, value);
                }
            }
        }

        @Override
        public void finish(Slice states, AggregateValue result) {
            if (get(states, offset + PRESENT) == 0) {
                result.setNull();
            } else {
                result.setFraction(getDouble(states, offset));
            }
        }
    }

    /**
     * Variance or standard deviation: count, mean, and the sum of squares of the distances from it
     * (Welford's step; merged after Chan, Golub and LeVeque).
     */
    record Moments(
            int offset, int argument, ArgumentFormat.Form form, boolean isRoot, Slice scratch)
            implements Accumulator, ColumnAccumulator {
        private static final int MEAN = 8;
        private static final int SQUARES = 16;
        static final int STATE_BYTES = 24;

        @Override
        public void add(Slice states, Slice arguments) {
            if (!ArgumentFormat.isPresent(arguments, argument)) {
                return;
            }
            double value = switch (form) {
                case NUMBER -> (double) ArgumentFormat.number(arguments, argument);
                case DOUBLE -> ArgumentFormat.fraction(arguments, argument);
                default ->
                    BytesAccumulator.decimal(ArgumentFormat.bytes(arguments, argument, scratch))
                            .doubleValue();
            };
            long count = get(states, offset) + 1;
            double mean = getDouble(states, offset + MEAN);
            double distance = value - mean;
            mean += distance / count;
            double squares = getDouble(states, offset + SQUARES) + distance * (value - mean);
            put(states, count, mean, squares);
        }

        /** Decimals are no numbers of a column. */
        @Override
        public boolean takesColumns() {
            return form == ArgumentFormat.Form.NUMBER || form == ArgumentFormat.Form.DOUBLE;
        }

        @Override
        public void addAll(
                long[] states, int[] places, int from, int to, ArgumentColumns arguments) {
            int counts = wordOf(offset);
            int means = wordOf(offset + MEAN);
            int squares = wordOf(offset + SQUARES);
            boolean isWhole = form == ArgumentFormat.Form.NUMBER;
            long[] numbers = arguments.numbers(argument);
            boolean[] absent = arguments.absent(argument);
            for (int i = from; i < to; i++) {
                if (absent[i]) {
                    continue;
                }
                int place = places[i];
                double value = isWhole ? (double) numbers[i] : Double.longBitsToDouble(numbers[i]);
                long count = states[place + counts] + 1;
                double mean = Double.longBitsToDouble(states[place + means]);
                double distance = value - mean;
                mean += distance / count;
                double sum = Double.longBitsToDouble(states[place + squares])
                        + distance * (value - mean);
                states[place + counts] = count;
                states[place + means] = Double.doubleToRawLongBits(mean);
                states[place + squares] = Double.doubleToRawLongBits(sum);
            }
        }

        @Override
        public void merge(Slice states, Slice others) {
            long count = get(states, offset);
            long otherCount = get(others, offset);
            if (otherCount == 0) {
                return;
            }
            if (count == 0) {
                // the square of their distance from nothing may be more than a double has
                put(
                        states,
                        otherCount,
                        getDouble(others, offset + MEAN),
                        getDouble(others, offset + SQUARES));
                return;
            }
            double mean = getDouble(states, offset + MEAN);
            double distance = getDouble(others, offset + MEAN) - mean;
            double all = (double) count + otherCount;
            double squares = getDouble(states, offset + SQUARES)
                    + getDouble(others, offset + SQUARES)
                    + distance * distance * (count / all * otherCount);
            put(states, count + otherCount, mean + distance * (otherCount / all), squares);
        }

        private void put(Slice states, long count, double mean, double squares) {
            set(states, offset, count);
            setDouble(states, offset + MEAN, mean);
            setDouble(states, offset + SQUARES, squares);
        }

        @Override
        public void finish(Slice states, AggregateValue result) {
            long count = get(states, offset);
            if (count < 2) {
                result.setNull();
                return;
            }
            double variance = getDouble(states, offset + SQUARES) / (count - 1);
            result.setFraction(isRoot ? Math.sqrt(variance) : variance);
        }
    }
}
