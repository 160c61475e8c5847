package io.turbidite.feeds.avro;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.feeds.parse.JsonText;
import io.turbidite.feeds.parse.MalformedFrameException;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/**
 * Records of Avro, which a parser of JSON takes as the JSON that they are. Those of object files
 * come as that already. A message comes as its source has it, behind an object of the members that
 * the source makes of its other parts; so a dead letter of one whose schema was missing is all that
 * is needed to read it again. <em>Confined to one thread.</em>
 */
public final class AvroRecordParser implements RecordParser {
    private final RecordParser json;
    private final @Nullable RegistrySchemas schemas;
    private final DatumReader datums = new DatumReader();
    private final JsonText text = new JsonText(Limits.RECORD_BYTES_MAX);
    private final RecordFrame frame = RecordFrame.of(new byte[0], 0, 1);

    private AvroRecordParser(RecordParser json, @Nullable RegistrySchemas schemas) {
        this.json = json;
        this.schemas = schemas;
    }

    /** A parser of the records of object files. */
    public static AvroRecordParser ofFiles(RecordParser json) {
        return new AvroRecordParser(json, null);
    }

    /** A parser of messages. */
    public static AvroRecordParser ofMessages(RecordParser json, RegistrySchemas schemas) {
        return new AvroRecordParser(json, schemas);
    }

    @Override
    public boolean takesObjectFiles() {
        return schemas == null;
    }

    @Override
    public boolean takesMessages() {
        return schemas != null;
    }

    @Override
    public RecordFramer.Quotes quotes() {
        return RecordFramer.Quotes.NONE;
    }

    @Override
    public boolean wantsHeader() {
        return false;
    }

    @Override
    public void header(RecordFrame first) {
        throw new IllegalStateException("records of Avro have no header");
    }

    @Override
    public boolean makesMore() {
        return json.makesMore();
    }

    @Override
    public Slice parse(RecordFrame given) {
        return json.parse(asJson(given));
    }

    @Override
    public int parseAll(RecordFrame given, Consumer<Slice> taker) {
        return json.parseAll(asJson(given), taker);
    }

    private RecordFrame asJson(RecordFrame given) {
        byte[] bytes = given.bytes();
        int from = given.start();
        int to = from + given.length();
        RegistrySchemas known = schemas;
        if (known == null) {
            if (from == to || bytes[from] != '{') {
                throw new MalformedFrameException(
                        "these are bytes of an object file that could not be decoded: mend the file, and load it by a feed of another name");
            }
            return given;
        }
        int members = membersEnd(bytes, from, to);
        text.clear();
        text.put(bytes, from, members - 1);
        int value = text.length();
        known.write(bytes, members, to, datums, text);
        join(value);
        return frame.set(text.bytes(), text.length(), given.offset(), given.line());
    }

    /** Makes one object of the members in front of {@code value}, without bracket, and that. */
    private void join(int value) {
        if (text.bytes()[value] != '{') {
            throw new MalformedFrameException("the datum is no record, but another of its union");
        }
        boolean hasMembers = value > 1;
        boolean hasFields = text.length() > value + 2;
        text.replace(value, hasMembers && hasFields ? ',' : ' ');
    }

    /** Behind the object that a message begins with. */
    private static int membersEnd(byte[] bytes, int from, int to) {
        int depth = 0;
        boolean inText = false;
        for (int at = from; at < to; at++) {
            byte b = bytes[at];
            if (inText) {
                if (b == '\\') {
                    at++;
                } else {
                    inText = b != '"';
                }
            } else if (b == '"') {
                inText = true;
            } else if (b == '{' || b == '[') {
                depth++;
            } else if (b == '}' || b == ']') {
                depth--;
            }
            if (depth == 0 && !inText) {
                if (at == from) {
                    break; // it begins otherwise
                }
                return at + 1;
            }
        }
        throw new MalformedFrameException(
                "a message of Avro stands behind a JSON object of its members");
    }
}
