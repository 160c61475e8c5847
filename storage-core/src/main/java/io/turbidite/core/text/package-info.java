/**
 * What a text is made of: tokens.
 *
 * <p>Holds the tokenizers. Whoever has to do with tokens uses them: the writers of an inverted
 * index, the check of a record that it led to, and a scan. Holds no index. Invariant: the tokens of
 * a text depend on the text, the {@link io.turbidite.core.text.Tokenizer} and what that names as
 * its {@linkplain io.turbidite.core.text.Tokenizer#tables tables}, and on nothing else. Start
 * reading at {@code Tokenizer}.
 */
@NullMarked
package io.turbidite.core.text;

import org.jspecify.annotations.NullMarked;
