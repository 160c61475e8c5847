package io.turbidite.hashlog.parse;

/** Reads one number of JSON's grammar. <em>Confined to one thread.</em> */
final class JsonNumber {
    private final RecordBytes record;

    private int end;
    private boolean integer;
    private long value;

    JsonNumber(RecordBytes record) {
        this.record = record;
    }

    /** Where the number ends, or what is wrong stands. */
    int end() {
        return end;
    }

    /** Whether it was written as an integer and fits 64 bits. */
    boolean isInteger() {
        return integer;
    }

    /** The integer. */
    long value() {
        return value;
    }

    /**
     * Reads the longest number that starts at {@code start} of the record; false if there is none.
     */
    boolean read(int start) {
        boolean negative = record.at(start) == '-';
        int first = negative ? start + 1 : start;
        int position = first;
        long sum = 0;
        int c = record.at(position);
        while (c >= '0' && c <= '9') {
            sum = sum * 10 + (c - '0');
            c = record.at(++position);
        }
        int digits = position - first;
        end = position;
        if (digits == 0) {
            return false;
        }
        if (digits > 1 && record.at(first) == '0') {
            end = first + 1;
            return false;
        }
        // 19 digits fit 64 bits without sign
        boolean fits =
                digits < 19 || (digits == 19 && (sum >= 0 || (negative && sum == Long.MIN_VALUE)));
        value = negative ? -sum : sum;
        integer = c != '.' && (c | 0x20) != 'e';
        if (!integer && !fraction(position)) {
            return false;
        }
        integer &= fits;
        return true;
    }

    /** The fraction and the exponent at {@code start}. */
    private boolean fraction(int start) {
        end = start;
        if (record.at(end) == '.' && !digits(end + 1)) {
            return false;
        }
        if ((record.at(end) | 0x20) == 'e') {
            int sign = record.at(end + 1);
            return digits(sign == '+' || sign == '-' ? end + 2 : end + 1);
        }
        return true;
    }

    private boolean digits(int start) {
        end = start;
        while (record.at(end) >= '0' && record.at(end) <= '9') {
            end++;
        }
        return end > start;
    }
}
