// What the page uses of the vendored decoder.
export function prepareZXingModule(options: { overrides: { locateFile: (name: string) => string } }): void;
export function readBarcodes(frame: ImageData, options: object): Promise<{ text: string }[]>;
