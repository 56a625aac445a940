/**
 * Weights as PyTorch's {@code torch.save} writes them ({@code pytorch_model.bin}): a ZIP archive
 * with the tensors' bytes, and a pickle that says what they are.
 *
 * <p>A pickle is a program. What is here reads the few instructions of it that describe tensors and
 * refuses all others by name; nothing that a file names is ever looked up or called.
 *
 * <p>Sources: the <a href="https://docs.python.org/3/library/pickletools.html">pickle opcodes</a>;
 * the <a href="https://docs.pytorch.org/docs/stable/notes/serialization.html">serialization notes
 * of PyTorch</a>; PKWARE's <a
 * href="https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT">APPNOTE</a>.
 */
package io.steelyard.models.pickle;
