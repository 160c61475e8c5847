/**
 * Words: what an inverted index costs and answers, beside Lucene; and the forms in which its
 * postings could lie. Start reading at {@link io.turbidite.bench.text.TextSuite}.
 */
@NullMarked
package io.turbidite.bench.text;

import org.jspecify.annotations.NullMarked;
