std = 'luajit'
read_globals = { 'vim' }
globals = { 'vim.b', 'vim.g', 'vim.o', 'vim.w', 'vim.bo', 'vim.wo' }
max_line_length = 140
